//! A rayon pool whose threads have ended, with all that is theirs, when it is gone.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The pool. rayon does not wait for threads to end: where cells ran in them, what MLX keeps for each thread would be freed
/// while the process already takes MLX itself apart.
pub struct JoinedPool {
    /// There until it is dropped.
    pool: Option<ThreadPool>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl JoinedPool {
    /// A pool of so many threads.
    ///
    /// # Errors
    ///
    /// The system starts no more.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let handles = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&handles);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .spawn_handler(move |thread| {
                let handle = std::thread::Builder::new().spawn(|| thread.run())?;
                // A panic elsewhere leaves the list as it was: it is only ever pushed to.
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
                Ok(())
            })
            .build()?;
        Ok(Self {
            pool: Some(pool),
            threads: handles,
        })
    }

    /// Runs `work` once in each thread, and waits until all have ended.
    pub fn broadcast(&self, work: impl Fn() + Sync) {
        if let Some(pool) = &self.pool {
            pool.broadcast(|_| work());
        }
    }
}

impl Drop for JoinedPool {
    fn drop(&mut self) {
        // The threads end once nobody can give them work.
        drop(self.pool.take());
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A panic in one was told by rayon.
            let _ = thread.join();
        }
    }
}
