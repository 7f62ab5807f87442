//! Shardings of XLA's partitioner: the distribution of a tensor over devices.
//!
//! They are text, such as `{devices=[2,1]<=[2]}`, or, as TensorFlow and early versions of JAX wrote
//! them, messages of protocol buffers.
//!
//! Source: XLA, "HLO sharding" (`xla/hlo/ir/hlo_sharding.h`) and `OpSharding` in
//! `xla/xla_data.proto`; Protocol Buffers, "Encoding".

use numerics::shape::{StridedView, num_elements};

/// A limit far above real programs.
const MAX_DEVICES: usize = 1 << 20;

/// The distribution of a tensor over devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sharding {
    /// Replicated, manual or maximal: no tiling to apply.
    Whole,
    /// Each dimension is divided into tiles.
    Tiled {
        /// Number of tiles of each dimension.
        tiles: Vec<usize>,
        /// Number of devices that share each tile.
        copies: usize,
        /// The devices of the tiles in row-major order, the devices of a tile adjacent.
        devices: Vec<usize>,
    },
}

impl Sharding {
    /// Parses the sharding of result `index` of an op, a tensor of the given rank. The sharding of
    /// an op is for all its results, or a tuple with one for each.
    pub(crate) fn read(bytes: &[u8], index: usize, rank: usize) -> Option<Sharding> {
        // No field of a message starts with a brace.
        match bytes.trim_ascii_start() {
            text @ [b'{', ..] => Sharding::from_text(std::str::from_utf8(text).ok()?, index, rank),
            _ => Sharding::from_message(bytes, index, rank),
        }
    }

    fn from_text(text: &str, index: usize, rank: usize) -> Option<Sharding> {
        let text = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let text = match text.starts_with('{') {
            true => element(text, index)?.strip_prefix('{')?.strip_suffix('}')?.trim(),
            false => text,
        };
        if text.starts_with("replicated")
            || text.starts_with("manual")
            || text.starts_with("maximal")
        {
            return Some(Sharding::Whole);
        }
        let (tiles, rest) = list(text.strip_prefix("devices=")?)?;
        let devices = match rest.strip_prefix("<=") {
            Some(iota) => {
                let (shape, rest) = list(iota)?;
                let order = match rest.strip_prefix("T(") {
                    Some(order) => numbers(order.split_once(')')?.0)?,
                    None => (0..shape.len()).collect(),
                };
                transposed(&shape, &order)?
            }
            None => numbers(rest.split(' ').next().unwrap_or(""))?,
        };
        Sharding::tiled(tiles, devices, rank)
    }

    fn from_message(bytes: &[u8], index: usize, rank: usize) -> Option<Sharding> {
        let mut message = ShardingFields::read(bytes)?;
        if message.kind == kind::TUPLE {
            message = ShardingFields::read(message.elements.get(index)?)?;
        }
        match message.kind {
            kind::REPLICATED | kind::MAXIMAL | kind::MANUAL => Some(Sharding::Whole),
            kind::OTHER => {
                let devices = match message.shape.is_empty() {
                    true => message.devices,
                    false => transposed(&message.shape, &message.order)?,
                };
                Sharding::tiled(message.tiles, devices, rank)
            }
            _ => None,
        }
    }

    fn tiled(mut tiles: Vec<usize>, devices: Vec<usize>, rank: usize) -> Option<Sharding> {
        let count = num_elements(&tiles).filter(|&n| n > 0 && n <= MAX_DEVICES)?;
        // Tile dimensions beyond the tensor's rank are subgroups of devices that share a tile.
        let copies = num_elements(tiles.get(rank..)?)?;
        tiles.truncate(rank);
        (devices.len() == count).then_some(Sharding::Tiled { tiles, copies, devices })
    }

    /// The tile coordinates of a device.
    pub(crate) fn tile(&self, device: usize) -> Option<Vec<usize>> {
        let Sharding::Tiled { tiles, copies, devices } = self else { return None };
        let mut number = devices.iter().position(|&d| d == device)? / copies;
        let mut tile = vec![0; tiles.len()];
        for (coordinate, count) in tile.iter_mut().zip(tiles).rev() {
            *coordinate = number % count;
            number /= count;
        }
        Some(tile)
    }
}

/// The numbers from 0 on in an array of the given shape, read with its dimensions in the given
/// order.
fn transposed(shape: &[usize], order: &[usize]) -> Option<Vec<usize>> {
    let count = num_elements(shape).filter(|&n| n <= MAX_DEVICES)?;
    let ids: Vec<i64> = (0..i64::try_from(count).ok()?).collect();
    let view = StridedView::dense(shape).ok()?.permute(order).ok()?;
    view.gather(&ids).ok()?.into_iter().map(|id| usize::try_from(id).ok()).collect()
}

/// The text of element `index` of a list such as `{replicated}, {devices=[2]0,1}`.
fn element(list: &str, index: usize) -> Option<&str> {
    let (mut depth, mut start, mut elements) = (0usize, 0, Vec::new());
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                elements.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    elements.push(&list[start..]);
    elements.get(index).map(|element| element.trim())
}

/// Reads `1,2`.
fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|n| n.trim().parse().ok()).collect()
}

/// Parses `[1,2]`; returns the rest, too.
fn list(text: &str) -> Option<(Vec<usize>, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    Some((numbers(inside)?, rest))
}

/// Values of `OpSharding.type`.
mod kind {
    pub(crate) const REPLICATED: u64 = 0;
    pub(crate) const MAXIMAL: u64 = 1;
    pub(crate) const TUPLE: u64 = 2;
    pub(crate) const OTHER: u64 = 3;
    pub(crate) const MANUAL: u64 = 4;
}

/// The relevant fields of an `OpSharding`; absent ones are zero or empty.
#[derive(Default)]
struct ShardingFields<'a> {
    kind: u64,
    /// The messages of a tuple's elements.
    elements: Vec<&'a [u8]>,
    tiles: Vec<usize>,
    devices: Vec<usize>,
    shape: Vec<usize>,
    order: Vec<usize>,
}

impl<'a> ShardingFields<'a> {
    fn read(mut bytes: &'a [u8]) -> Option<ShardingFields<'a>> {
        let mut message = ShardingFields::default();
        while !bytes.is_empty() {
            // A key is a field number and a wire type, by which unknown fields are skipped.
            let key = varint(&mut bytes)?;
            let (number, packed) = match key & 7 {
                0 => (varint(&mut bytes)?, None),
                1 => (0, Some(take(&mut bytes, 8)?)),
                2 => {
                    let len = varint(&mut bytes)?;
                    (0, Some(take(&mut bytes, len)?))
                }
                5 => (0, Some(take(&mut bytes, 4)?)),
                _ => return None,
            };
            let list = match key >> 3 {
                1 => {
                    message.kind = number;
                    continue;
                }
                5 => {
                    message.elements.extend(packed);
                    continue;
                }
                3 => &mut message.tiles,
                4 => &mut message.devices,
                9 => &mut message.shape,
                10 => &mut message.order,
                _ => continue,
            };
            match packed {
                None => list.push(usize::try_from(number).ok()?),
                Some(mut packed) => {
                    while !packed.is_empty() {
                        list.push(usize::try_from(varint(&mut packed)?).ok()?);
                    }
                }
            }
        }
        Some(message)
    }
}

/// Seven bits per byte, the lowest first; the eighth bit is set if another byte follows.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled(tiles: &[usize], copies: usize, devices: &[usize]) -> Option<Sharding> {
        Some(Sharding::Tiled { tiles: tiles.to_vec(), copies, devices: devices.to_vec() })
    }

    #[test]
    fn text_is_read() {
        let read = |text: &str, rank| Sharding::read(text.as_bytes(), 0, rank);
        assert_eq!(read("{replicated}", 2), Some(Sharding::Whole));
        assert_eq!(read("{devices=[4,1]<=[4]}", 2), tiled(&[4, 1], 1, &[0, 1, 2, 3]));
        assert_eq!(read("{devices=[2,2]<=[2,2]T(1,0)}", 2), tiled(&[2, 2], 1, &[0, 2, 1, 3]));
        let replicated = read("{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", 2);
        assert_eq!(replicated, tiled(&[2, 1], 2, &[0, 2, 1, 3]));
        assert_eq!(replicated.and_then(|sharding| sharding.tile(3)), Some(vec![1, 0]));
        assert_eq!(read("{devices=[3]<=[4]}", 1), None);
        assert_eq!(read("devices", 1), None);
    }

    /// Messages written by XLA, and the text that it prints for each.
    #[test]
    fn messages_are_read_as_their_text() {
        let same: [(&[u8], &str); 6] = [
            (b"", "{replicated}"),
            (b"\x08\x04", "{manual}"),
            (b"\x08\x01\x1a\x01\x01\"\x01\x03", "{maximal device=3}"),
            (
                b"\x08\x03\x1a\x03\x02\x01\x02\"\x04\x00\x02\x01\x030\x01",
                "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}",
            ),
            (b"\x08\x03\x1a\x02\x04\x01J\x01\x04R\x01\x00", "{devices=[4,1]<=[4]}"),
            (
                b"\x08\x03\x1a\x03\x02\x01\x02B\x01\x04J\x02\x02\x02R\x02\x01\x00",
                "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={manual}}",
            ),
        ];
        for (message, text) in same {
            let sharding = Sharding::read(message, 0, 2);
            assert!(sharding.is_some(), "{text}");
            assert_eq!(sharding, Sharding::read(text.as_bytes(), 0, 2), "{text}");
            for len in 0..message.len() {
                let _ = Sharding::read(&message[..len], 0, 2);
            }
        }
        // Elements of a packed list may also be encoded one by one.
        let one_by_one = b"\x08\x03\x18\x02\x20\x01\x20\x00";
        assert_eq!(Sharding::read(one_by_one, 0, 1), tiled(&[2], 1, &[1, 0]));
    }

    #[test]
    fn elements_of_tuples_are_read() {
        let text = b"{{replicated}, {devices=[2,1]<=[2]}, {devices=[1,2]1,0}}";
        let message = b"\x08\x02*\x00*\x08\x08\x03\x1a\x01\x02\"\x01\x00";
        assert_eq!(Sharding::read(text, 0, 2), Some(Sharding::Whole));
        assert_eq!(Sharding::read(text, 1, 2), tiled(&[2, 1], 1, &[0, 1]));
        assert_eq!(Sharding::read(text, 2, 2), tiled(&[1, 2], 1, &[1, 0]));
        assert_eq!(Sharding::read(text, 3, 2), None);
        assert_eq!(Sharding::read(b"{{{}}", 0, 2), None);
        assert_eq!(Sharding::read(message, 0, 1), Some(Sharding::Whole));
        // One device for two tiles.
        assert_eq!(Sharding::read(message, 1, 1), None);
        assert_eq!(Sharding::read(b"\x08\x02*\x00", 1, 1), None);
        // A sharding that is no tuple is for all values.
        assert_eq!(Sharding::read(b"{manual}", 3, 1), Some(Sharding::Whole));
    }
}
