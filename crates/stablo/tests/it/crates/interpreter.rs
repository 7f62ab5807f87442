//! The order in which processes get messages and the values of the infeed.

use interpreter::Grid;
use interpreter::scheduler::{Scheduler, Site};
use program::{Channel, FunctionId, Origin, RuntimeValue};

#[test]
fn messages_wait_in_order() {
    let scheduler = Scheduler::new(Grid::SINGLE, 1, vec![FunctionId(3), FunctionId(5)]);
    let channel = Channel { id: 1, between: None };
    scheduler.send(channel, vec![RuntimeValue::Token]);
    scheduler.send(channel, Vec::new());
    let site = Site { name: "recv", origin: Origin(0) };
    let receive = |_| scheduler.receive(0, site, channel).expect("a message").len();
    assert_eq!([0; 2].map(receive), [1, 0]);
    assert_eq!(
        [scheduler.infeed(), scheduler.infeed(), scheduler.infeed()],
        [Some(FunctionId(3)), Some(FunctionId(5)), None]
    );
}
