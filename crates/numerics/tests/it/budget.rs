//! Tests of `budget.rs`.

use host::{Budget, Host, OverBudget};
use numerics::budget::{Scratch, reserve};
use numerics::{Tensor, TensorError};

#[test]
fn kernels_work_within_the_budget() {
    let budget = Budget::new(100);
    let _entered = Host::default().with_budget(budget.clone()).enter();
    let scratch = Scratch::filled(10, 7u64).expect("80 of 100 bytes");
    assert_eq!((scratch.len(), budget.used()), (10, 80));
    assert!(reserve::<u64>(3).is_err());
    assert_eq!(scratch.into_vec(), [7; 10]);
    assert_eq!(budget.used(), 0);
}

#[test]
fn bytes_come_back_with_the_last_owner() {
    let budget = Budget::new(100);
    let entered = Host::default().with_budget(budget.clone()).enter();
    let tensor = Tensor::splat([10], 1f32).expect("40 of 100 bytes");
    let other = tensor.clone();
    assert_eq!(budget.used(), 40);
    assert_eq!(
        Tensor::splat([16], 1f32).expect_err("64 of 60 bytes"),
        TensorError::Budget(OverBudget { bytes: 64, used: 40, limit: 100 })
    );
    drop(tensor);
    assert_eq!(budget.used(), 40);
    drop(entered);
    let free = Tensor::splat([100], 1f32).expect("no budget");
    drop((other, free));
    assert_eq!(budget.used(), 0);
}
