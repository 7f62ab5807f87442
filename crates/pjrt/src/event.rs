//! Values that are computed later, and events, which tell clients of them.

use crate::error::{Code, Failure, Outcome};
use crate::handle::{Foreign, Handle, Resolve, give, null, text};
use pjrt_abi::{
    EventAwait, EventCreate, EventDestroy, EventError, EventIsReady, EventOnReady, EventSet,
};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// A callback that runs when the value is ready.
type Continuation = Box<dyn FnOnce(Outcome) + Send>;

enum State<T> {
    Pending(Vec<Continuation>),
    Done(Outcome<T>),
}

/// A value that is there, that failed, or that will be set once.
pub struct Promise<T> {
    state: Mutex<State<T>>,
    ready: Condvar,
}

impl<T> Default for Promise<T> {
    fn default() -> Promise<T> {
        Promise { state: Mutex::new(State::Pending(Vec::new())), ready: Condvar::new() }
    }
}

impl<T> From<Outcome<T>> for Promise<T> {
    fn from(value: Outcome<T>) -> Promise<T> {
        Promise { state: Mutex::new(State::Done(value)), ready: Condvar::new() }
    }
}

impl<T> Promise<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the value; a second one is ignored.
    pub fn set(&self, value: Outcome<T>) {
        let outcome = value.as_ref().map(|_| ()).map_err(Clone::clone);
        let continuations = match &mut *self.lock() {
            State::Done(_) => return,
            state => match std::mem::replace(state, State::Done(value)) {
                State::Pending(continuations) => continuations,
                State::Done(_) => Vec::new(),
            },
        };
        self.ready.notify_all();
        continuations.into_iter().for_each(|continuation| continuation(outcome.clone()));
    }

    /// Waits for the value, and returns what `read` makes of it.
    pub fn wait_for<R>(&self, read: impl FnOnce(&T) -> R) -> Outcome<R> {
        let mut state = self.lock();
        loop {
            match &*state {
                State::Done(Ok(value)) => return Ok(read(value)),
                State::Done(Err(failure)) => return Err(failure.clone()),
                State::Pending(_) => {
                    state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// The value, which is waited for, as the only owner.
    pub fn into_value(self) -> Outcome<T> {
        self.wait_for(|_| ())?;
        match self.state.into_inner().unwrap_or_else(PoisonError::into_inner) {
            State::Done(value) => value,
            State::Pending(_) => Err(Failure::new(Code::Internal, "the value was not set")),
        }
    }
}

/// Something that clients can wait for.
pub trait Signal: Send + Sync {
    fn is_ready(&self) -> bool;

    /// Waits, and returns the failure.
    fn wait(&self) -> Outcome;

    /// Calls a function when it is ready, at once if it is.
    fn then(&self, continuation: Continuation);
}

impl<T: Send> Signal for Promise<T> {
    fn is_ready(&self) -> bool {
        matches!(&*self.lock(), State::Done(_))
    }

    fn wait(&self) -> Outcome {
        self.wait_for(|_| ())
    }

    fn then(&self, continuation: Continuation) {
        let outcome = match &mut *self.lock() {
            State::Pending(continuations) => return continuations.push(continuation),
            State::Done(value) => value.as_ref().map(|_| ()).map_err(Clone::clone),
        };
        continuation(outcome);
    }
}

/// `PJRT_Event`.
pub struct Event {
    signal: Arc<dyn Signal>,
    /// The promise of an event that the client made, to be set by it.
    own: Option<Arc<Promise<()>>>,
}

impl Event {
    /// Gives a client an event for a signal.
    pub fn of(signal: Arc<dyn Signal>) -> Handle<Event> {
        give(Event { signal, own: None })
    }

    /// Gives a client an event that is ready.
    pub fn ready() -> Handle<Event> {
        static READY: LazyLock<Arc<dyn Signal>> = LazyLock::new(|| Arc::new(Promise::from(Ok(()))));
        Event::of(READY.clone())
    }
}

pub(crate) fn destroy(args: &mut EventDestroy) -> Outcome {
    args.event.free();
    Ok(())
}

pub(crate) fn is_ready(args: &mut EventIsReady) -> Outcome {
    args.is_ready = args.event.get()?.signal.is_ready().into();
    Ok(())
}

pub(crate) fn error(args: &mut EventError) -> Outcome {
    let event = args.event.get()?;
    if !event.signal.is_ready() {
        return Err(Failure::new(Code::FailedPrecondition, "the event is not ready yet"));
    }
    event.signal.wait()
}

pub(crate) fn await_(args: &mut EventAwait) -> Outcome {
    args.event.get()?.signal.wait()
}

pub(crate) fn on_ready(args: &mut EventOnReady) -> Outcome {
    let event = args.event.get()?;
    let callback = args.callback.ok_or_else(|| Failure::invalid("there is no callback"))?;
    let user_arg = Foreign(args.user_arg);
    let call = move |outcome: Outcome| {
        let user_arg = user_arg;
        let error = outcome.err().map_or(null(), Failure::into_error);
        // SAFETY: the client gave the function and its argument for this; it owns the error.
        unsafe { callback(error.pointer(), user_arg.0) };
    };
    if event.signal.is_ready() {
        call(event.signal.wait());
    } else {
        event.signal.then(Box::new(call));
    }
    Ok(())
}

pub(crate) fn create(args: &mut EventCreate) -> Outcome {
    let own = Arc::new(Promise::default());
    args.event = give(Event { signal: own.clone(), own: Some(own) });
    Ok(())
}

pub(crate) fn set(args: &mut EventSet) -> Outcome {
    let event = args.event.get()?;
    let own = event.own.as_ref();
    let own = own.ok_or_else(|| Failure::invalid("the event was not made by the client"))?;
    own.set(match args.error_code {
        0 => Ok(()),
        code => {
            let message = text(args.error_message, args.error_message_size)?;
            Err(Failure::new(Code::from_number(code), message))
        }
    });
    Ok(())
}
