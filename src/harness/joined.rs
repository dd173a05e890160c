//! A rayon pool whose threads have ended, with all that is theirs, when it is gone.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::thread::JoinHandle;

/// The pool. rayon does not wait for threads to end: where cells ran in them, what MLX keeps for each thread would be freed
/// while the process already takes MLX itself apart.
pub struct JoinedPool {
    /// There until it is dropped.
    pool: Option<ThreadPool>,
    threads: Vec<JoinHandle<()>>,
}

impl JoinedPool {
    /// A pool of so many threads.
    ///
    /// # Errors
    ///
    /// The system starts no more.
    pub fn new(count: usize) -> Result<Self, ThreadPoolBuildError> {
        let mut threads = Vec::new();
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .spawn_handler(|thread| {
                threads.push(std::thread::Builder::new().spawn(|| thread.run())?);
                Ok(())
            })
            .build()?;
        Ok(Self {
            pool: Some(pool),
            threads,
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
        for thread in self.threads.drain(..) {
            // A panic in one was told by rayon.
            let _ = thread.join();
        }
    }
}
