//! Tests of the harness as people start it: real processes, real faults, real kills.

mod contract;
mod disk;
mod faults;
mod kept;
mod kill;
mod known;
mod nonsense;
mod roots;
mod shards;
