//! Types of values, and groups of processes.

use numerics::{DType, Tensor};
use program::collective::Strategy;
use program::{DYNAMIC, Grid, ProcessId, RuntimeValue, ValueType};

#[test]
fn dynamic_sizes_accept_any_size_within_bounds() {
    let ty =
        ValueType::Tensor { dtype: DType::F32, shape: vec![DYNAMIC, 2], bounds: vec![3, DYNAMIC] };
    let tensor = |shape: [usize; 2]| RuntimeValue::from(Tensor::zeros(DType::F32, shape).unwrap());
    assert!(ty.accepts(&tensor([3, 2])) && ty.accepts(&tensor([0, 2])));
    assert!(!ty.accepts(&tensor([4, 2])) && !ty.accepts(&tensor([3, 1])));
    assert!(ty.contradicts(&tensor([4, 2])));
    assert!(!ty.accepts(&RuntimeValue::Token) && !ty.contradicts(&RuntimeValue::Token));
}

fn ids(ids: &[(usize, usize)]) -> Vec<ProcessId> {
    ids.iter().map(|&(replica, partition)| ProcessId { replica, partition }).collect()
}

#[test]
fn examples_of_the_specification() {
    let grid = Grid { replicas: 4, partitions: 2 };
    let me = ProcessId { replica: 2, partition: 1 };
    let groups = |strategy: Strategy, list: &[usize]| {
        strategy.processes(list, me, grid).expect("ids in range")
    };
    assert_eq!(groups(Strategy::CrossReplica, &[2, 3]), ids(&[(2, 1), (3, 1)]));
    assert_eq!(groups(Strategy::CrossPartition, &[0, 1]), ids(&[(2, 0), (2, 1)]));
    let both = ids(&[(2, 0), (3, 0), (2, 1), (3, 1)]);
    assert_eq!(groups(Strategy::CrossReplicaAndPartition, &[2, 3]), both);
    assert_eq!(
        groups(Strategy::FlattenedIds, &[4, 5, 6, 7]),
        ids(&[(2, 0), (2, 1), (3, 0), (3, 1)])
    );
    assert!(Strategy::CrossPartition.processes(&[2], me, grid).is_err());
}
