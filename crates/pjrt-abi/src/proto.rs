//! Compile options: messages of Protocol Buffers, as far as they need them.
//!
//! Source: Protocol Buffers, "Encoding"; OpenXLA, `xla/pjrt/proto/compile_options.proto` and
//! `xla/xla_data.proto`.

/// The value of a field.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// A number of four or eight bytes, of which nothing is read.
    Fixed,
}

/// The fields of a message, up to the first that is malformed.
struct Message<'a>(&'a [u8]);

impl<'a> Message<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

/// The numbers of a repeated field, packed or not.
fn numbers(value: Value<'_>) -> Vec<u64> {
    match value {
        Value::Number(number) => vec![number],
        Value::Bytes(bytes) => {
            let mut packed = Message(bytes);
            std::iter::from_fn(|| packed.varint()).collect()
        }
        Value::Fixed => Vec::new(),
    }
}

/// Options of a compilation, of `CompileOptionsProto`.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    pub num_replicas: usize,
    pub num_partitions: usize,
    /// The ids of the devices, replica by replica. Empty if the client chose none.
    pub devices: Vec<i64>,
    /// True if the program may run on any device, which an execution states.
    pub is_portable: bool,
    /// Options of the compiler by name.
    pub overrides: Vec<(String, Override)>,
}

/// The value of an option of the compiler.
#[derive(Clone, Debug, PartialEq)]
pub enum Override {
    Text(String),
    Bool(bool),
    Integer(i64),
    /// A number of which nothing is read.
    Float,
}

impl CompileOptions {
    /// Reads serialized options; what is absent has its default.
    #[must_use]
    pub fn read(bytes: &[u8]) -> CompileOptions {
        let mut options = CompileOptions {
            num_replicas: 1,
            num_partitions: 1,
            devices: Vec::new(),
            is_portable: false,
            overrides: Vec::new(),
        };
        for field in Message(bytes) {
            match field {
                (3, Value::Bytes(build)) => options.read_build_options(build),
                (4, Value::Number(portable)) => options.is_portable = portable != 0,
                (7, Value::Bytes(entry)) => options.overrides.extend(read_override(entry)),
                _ => {}
            }
        }
        options
    }

    /// The options as a message.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut build = Vec::new();
        // No device by its number: the assignment has it.
        push_number(&mut build, 1, u64::MAX);
        push_number(&mut build, 4, self.num_replicas as u64);
        push_number(&mut build, 5, self.num_partitions as u64);
        if !self.devices.is_empty() {
            push_bytes(&mut build, 9, &write_assignment(self.num_partitions, &self.devices));
        }
        let mut bytes = Vec::new();
        push_bytes(&mut bytes, 3, &build);
        if self.is_portable {
            push_number(&mut bytes, 4, 1);
        }
        bytes
    }

    /// Reads `ExecutableBuildOptionsProto`.
    fn read_build_options(&mut self, bytes: &[u8]) {
        let size = |number| usize::try_from(number).unwrap_or(usize::MAX).max(1);
        for field in Message(bytes) {
            match field {
                (4, Value::Number(replicas)) => self.num_replicas = size(replicas),
                (5, Value::Number(partitions)) => self.num_partitions = size(partitions),
                (9, Value::Bytes(assignment)) => self.devices = read_assignment(assignment),
                _ => {}
            }
        }
    }
}

/// An entry of a map of names to `OptionOverrideProto`.
fn read_override(bytes: &[u8]) -> Option<(String, Override)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut name, mut value) = (None, None);
    for field in Message(bytes) {
        match field {
            (1, Value::Bytes(own)) => name = Some(text(own)),
            (2, Value::Bytes(own)) => {
                value = Message(own).next().and_then(|field| match field {
                    (1, Value::Bytes(own)) => Some(Override::Text(text(own))),
                    (2, Value::Number(own)) => Some(Override::Bool(own != 0)),
                    (3, Value::Number(own)) => Some(Override::Integer(own as i64)),
                    (4, Value::Fixed) => Some(Override::Float),
                    _ => None,
                });
            }
            _ => {}
        }
    }
    name.zip(value)
}

/// The ids of `DeviceAssignmentProto`, replica by replica.
fn read_assignment(bytes: &[u8]) -> Vec<i64> {
    // Partition by partition, the ids of the replicas.
    let mut partitions: Vec<Vec<i64>> = Vec::new();
    for field in Message(bytes) {
        if let (3, Value::Bytes(computation)) = field {
            let ids = Message(computation).filter(|(number, _)| *number == 1);
            let ids = ids.flat_map(|(_, value)| numbers(value)).map(|id| id as i64);
            partitions.push(ids.collect());
        }
    }
    let replicas = partitions.iter().map(Vec::len).max().unwrap_or(0);
    let ids = (0..replicas)
        .flat_map(|replica| partitions.iter().filter_map(move |ids| ids.get(replica).copied()));
    ids.collect()
}

/// Appends an integer, seven bits a byte.
fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn push_number(bytes: &mut Vec<u8>, field: u64, number: u64) {
    push_varint(bytes, field << 3);
    push_varint(bytes, number);
}

fn push_bytes(bytes: &mut Vec<u8>, field: u64, content: &[u8]) {
    push_varint(bytes, field << 3 | 2);
    push_varint(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// `DeviceAssignmentProto` of ids, replica by replica.
#[must_use]
pub fn write_assignment(partitions: usize, devices: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_number(&mut bytes, 1, (devices.len() / partitions.max(1)) as u64);
    push_number(&mut bytes, 2, partitions as u64);
    for partition in 0..partitions {
        let mut ids = Vec::new();
        for id in devices.iter().skip(partition).step_by(partitions) {
            push_varint(&mut ids, *id as u64);
        }
        let mut computation = Vec::new();
        push_bytes(&mut computation, 1, &ids);
        push_bytes(&mut bytes, 3, &computation);
    }
    bytes
}
