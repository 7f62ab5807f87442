//! Elements in memory: in the order that a client asks for, and where the client has them.

use crate::client::*;
use pjrt_abi::*;
use std::ptr::null_mut;

/// A matrix of two rows, and its elements column by column.
const X: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const BY_COLUMNS: [f32; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];

/// The layout of dimensions from the one that varies fastest on.
fn layout(minor_to_major: &[i64]) -> MemoryLayout {
    let tiled = Tiled {
        struct_size: size_of::<Tiled>(),
        extension_start: null_mut(),
        minor_to_major: minor_to_major.as_ptr(),
        minor_to_major_size: minor_to_major.len(),
        tile_dims: std::ptr::null(),
        tile_dim_sizes: std::ptr::null(),
        num_tiles: 0,
    };
    let mut layout: MemoryLayout = args();
    (layout.layout, layout.kind) = (Layout { tiled }, TILED);
    layout
}

/// A buffer of 2x3 numbers that the client has in row-major order.
fn matrix(client: &ClientCreate, layout: *const MemoryLayout) -> ClientBufferFromHostBuffer {
    let mut create = buffer(client, &[2, 3], &X);
    create.device_layout = layout;
    create.dims = [2i64, 3].as_ptr();
    call(Slot::Client_BufferFromHostBuffer, &mut create).unwrap();
    create
}

/// The order of a buffer, its elements as they are in memory, and in row-major order.
fn contents<B: Copy>(buffer: B) -> (Vec<i64>, Vec<f32>, Vec<f32>) {
    let mut order: BufferGetMemoryLayout = args();
    // SAFETY: callers pass a handle of a buffer.
    order.buffer = unsafe { std::mem::transmute_copy(&buffer) };
    call(Slot::Buffer_GetMemoryLayout, &mut order).unwrap();
    // SAFETY: the plugin gives layouts that list dimensions.
    let dims = unsafe {
        let tiled = order.layout.layout.tiled;
        std::slice::from_raw_parts(tiled.minor_to_major, tiled.minor_to_major_size).to_vec()
    };
    let mut row_major = vec![0f32; 6];
    let natural = layout(&[1, 0]);
    let mut copy: BufferToHostBuffer = args();
    (copy.src, copy.host_layout) = (order.buffer, (&raw const natural).cast_mut());
    (copy.dst, copy.dst_size) = (row_major.as_mut_ptr().cast(), 24);
    call(Slot::Buffer_ToHostBuffer, &mut copy).unwrap();
    let mut wait: EventAwait = args();
    wait.event = copy.event;
    call(Slot::Event_Await, &mut wait).unwrap();
    (dims, elements(buffer, 6).unwrap(), row_major)
}

#[test]
fn a_buffer_has_the_order_that_is_asked_for() {
    let client = client(1);
    let columns = layout(&[0, 1]);
    let found = contents(matrix(&client, &columns).buffer);
    assert_eq!(found, (vec![0, 1], BY_COLUMNS.to_vec(), X.to_vec()));
    for wrong in [&[0][..], &[0, 0], &[0, 2]] {
        let mut create = matrix(&client, std::ptr::null());
        let wrong = layout(wrong);
        (create.device_layout, create.dims) = (&wrong, [2i64, 3].as_ptr());
        let (code, message) = call(Slot::Client_BufferFromHostBuffer, &mut create).unwrap_err();
        let expected = "the layout does not have the dimensions of the shape";
        assert_eq!((code, &message[..]), (3, expected));
    }
}

/// jaxlib 0.12 asks for the order of the buffer, and lists its dimensions in memory that it has
/// freed.
#[test]
fn a_copy_to_the_host_has_the_order_of_the_buffer_if_the_layout_is_none() {
    let client = client(1);
    let columns = layout(&[0, 1]);
    let created = matrix(&client, &columns);
    let copied = |dims: &[i64]| {
        let mut memory = vec![0f32; 6];
        let stated = layout(dims);
        let mut copy: BufferToHostBuffer = args();
        (copy.src, copy.host_layout) = (created.buffer, (&raw const stated).cast_mut());
        (copy.dst, copy.dst_size) = (memory.as_mut_ptr().cast(), 24);
        call(Slot::Buffer_ToHostBuffer, &mut copy)?;
        let mut wait: EventAwait = args();
        wait.event = copy.event;
        call(Slot::Event_Await, &mut wait)?;
        Ok::<_, (i32, String)>(memory)
    };
    for freed in [&[0x5555_1234_5678, 7][..], &[0, 0], &[0], &[]] {
        assert_eq!(copied(freed).unwrap(), BY_COLUMNS);
    }
    assert_eq!(copied(&[1, 0]).unwrap(), X);
}

/// Arguments are taken in any order; results have the one that the program states.
#[test]
fn a_program_states_the_order_of_its_results() {
    let client = client(1);
    let columns = layout(&[0, 1]);
    let arguments = [matrix(&client, &columns), matrix(&client, std::ptr::null())];
    let doubled = |all: [f32; 6]| all.map(|x| 2.0 * x).to_vec();
    for (mode, dims, in_memory) in [
        ("default", vec![1, 0], doubled(X)),
        ("{1,0}", vec![1, 0], doubled(X)),
        ("{0,1}", vec![0, 1], doubled(BY_COLUMNS)),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<2x3xf32> {{mhlo.layout_mode = \"{{0,1}}\"}},
                             %y: tensor<2x3xf32>)
                -> (tensor<2x3xf32> {{mhlo.layout_mode = \"{mode}\"}}) {{
              %0 = stablehlo.add %x, %y : tensor<2x3xf32>
              return %0 : tensor<2x3xf32>
            }}"
        );
        let program = compile(&client, &text).unwrap();
        let found = contents(execute(&program, &arguments).unwrap());
        assert_eq!(found, (dims, in_memory, doubled(X)), "{mode}");
    }
    for mode in ["{1}", "{0,0}", "{2,0}", "row", "{x,0}"] {
        let text = format!(
            "func.func @main(%x: tensor<2x3xf32> {{mhlo.layout_mode = \"{mode}\"}})
                -> tensor<2x3xf32> {{ return %x : tensor<2x3xf32> }}"
        );
        let (code, message) = compile(&client, &text).err().unwrap();
        assert_eq!((code, message), (3, format!("{mode} is not a layout of 2 dimensions")));
    }
}

/// The order `auto` of a result is the one that moves no elements.
#[test]
fn an_order_is_chosen_where_the_program_leaves_it_open() {
    let client = client(1);
    let x = matrix(&client, std::ptr::null());
    let by_rows = [3.0, 6.0, 9.0, 12.0, 15.0, 18.0];
    let transposed =
        "%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>";
    let reshaped = "%1 = stablehlo.reshape %0 : (tensor<2x3xf32>) -> tensor<3x2xf32>";
    for (op, dims) in [(transposed, vec![0, 1]), (reshaped, vec![1, 0])] {
        let text = format!(
            "func.func @main(%x: tensor<2x3xf32>)
                -> (tensor<3x2xf32> {{mhlo.layout_mode = \"auto\"}}) {{
              %c = stablehlo.constant dense<3.0> : tensor<2x3xf32>
              %0 = stablehlo.multiply %x, %c : tensor<2x3xf32>
              {op}
              return %1 : tensor<3x2xf32>
            }}"
        );
        let program = compile(&client, &text).unwrap();
        let (found, in_memory, row_major) = contents(execute(&program, &[x]).unwrap());
        assert_eq!((found, in_memory), (dims, by_rows.to_vec()), "{op}");
        let expected = match op == transposed {
            true => [3.0, 12.0, 6.0, 15.0, 9.0, 18.0],
            false => by_rows,
        };
        assert_eq!(row_major, expected, "{op}");
    }
}

/// The client hears that its memory is free again once neither buffer nor execution has it.
#[test]
fn memory_of_the_client_is_used_where_it_is() {
    let client = client(1);
    const COUNT: usize = 1 << 14;
    let memory = aligned(COUNT);
    let numbers = &memory.1;
    let mut create = lend(&client, numbers);
    let dims = [COUNT as i64];
    create.dims = dims.as_ptr();
    let is_done = |event| {
        let mut ready: EventIsReady = args();
        ready.event = event;
        call(Slot::Event_IsReady, &mut ready).unwrap();
        ready.is_ready.is_set()
    };
    let mut pointer: BufferPointer = args();
    pointer.buffer = create.buffer;
    call(Slot::Buffer_UnsafePointer, &mut pointer).unwrap();
    assert_eq!(pointer.pointer, numbers.as_ptr().addr());
    assert!(!is_done(create.done_with_host_buffer));
    let text = format!(
        "func.func @main(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}xf32> {{
          %0 = stablehlo.negate %x : tensor<{COUNT}xf32>
          return %0 : tensor<{COUNT}xf32>
        }}"
    );
    let program = compile(&client, &text).unwrap();
    let result = execute(&program, &[create]).unwrap();
    assert_eq!(elements(result, COUNT).unwrap(), vec![-1.5; COUNT]);
    assert_eq!(**numbers, [1.5; COUNT]);
    let mut destroy: BufferDestroy = args();
    destroy.buffer = create.buffer;
    call(Slot::Buffer_Destroy, &mut destroy).unwrap();
    assert!(is_done(create.done_with_host_buffer));
    // A donated argument is not written either.
    let donating = text
        .replace("%x: tensor<16384xf32>", "%x: tensor<16384xf32> {tf.aliasing_output = 0 : i32}");
    let program = compile(&client, &donating).unwrap();
    call(Slot::Client_BufferFromHostBuffer, &mut create).unwrap();
    let result = execute(&program, &[create]).unwrap();
    assert_eq!(elements(result, COUNT).unwrap(), vec![-1.5; COUNT]);
    assert_eq!(**numbers, [1.5; COUNT]);
    assert!(is_done(create.done_with_host_buffer));
}

unsafe extern "C" {
    fn stablo_pjrt_set_view_order(dims: *const i64, rank: usize);
}

/// Memory of a client at an address that views may have.
#[repr(align(64))]
struct Aligned([f32; 8]);

/// jaxlib lists the dimensions of a view in memory that it has freed, and states them before.
#[test]
fn the_order_of_a_view_may_be_stated_before() {
    let client = client(1);
    let memory = Aligned([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let mut create: ClientCreateViewOfDeviceBuffer = args();
    let device = buffer(&client, &[1], &[0.0]).device;
    (create.client, create.device, create.element_type) = (client.client, device, 11);
    (create.dims, create.num_dims) = ([2i64, 3].as_ptr(), 2);
    create.device_buffer_ptr = memory.0.as_ptr().cast_mut().cast();
    let freed = layout(&[0x5555_1234, 7]);
    create.layout = (&raw const freed).cast_mut();
    for (dims, row_major) in
        [([0i64, 1], [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]), ([1, 0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]
    {
        // SAFETY: these are two numbers.
        unsafe { stablo_pjrt_set_view_order(dims.as_ptr(), 2) };
        call(Slot::Client_CreateViewOfDeviceBuffer, &mut create).unwrap();
        let (found, in_memory, elements) = contents(create.buffer);
        assert_eq!((found, elements), (dims.to_vec(), row_major.to_vec()));
        assert_eq!(in_memory, memory.0[..6]);
    }
    // It is that of one view.
    let (code, message) = call(Slot::Client_CreateViewOfDeviceBuffer, &mut create).unwrap_err();
    assert_eq!((code, &message[..]), (3, "the layout does not have the dimensions of the shape"));
    // As by XLA, memory at other addresses is refused, which makes JAX copy it.
    create.layout = null_mut();
    create.device_buffer_ptr = memory.0[1..].as_ptr().cast_mut().cast();
    let (code, message) = call(Slot::Client_CreateViewOfDeviceBuffer, &mut create).unwrap_err();
    assert!(code == 3 && message.ends_with("which is not aligned to 16 bytes."), "{message}");
}

/// JAX reports an attempt to read a token if it has the element type of one.
#[test]
fn tokens_have_a_type_of_their_own() {
    let client = client(1);
    let text = "func.func @main() -> !stablehlo.token {
      %0 = stablehlo.create_token : !stablehlo.token
      return %0 : !stablehlo.token
    }";
    let program = compile(&client, text).unwrap();
    let mut ty: BufferElementType = args();
    let token = execute(&program, &[]).unwrap();
    // SAFETY: this is a handle of a buffer.
    ty.buffer = unsafe { std::mem::transmute_copy(&token) };
    call(Slot::Buffer_ElementType, &mut ty).unwrap();
    assert_eq!(ty.element_type, TOKEN);
    let consumer = "func.func @main(%t: !stablehlo.token) -> tensor<f32> {
      %0 = stablehlo.after_all %t, %t : !stablehlo.token
      %1 = stablehlo.constant dense<2.5> : tensor<f32>
      return %1 : tensor<f32>
    }";
    let program = compile(&client, consumer).unwrap();
    let mut argument: ClientBufferFromHostBuffer = args();
    argument.buffer = ty.buffer;
    assert_eq!(elements(execute(&program, &[argument]).unwrap(), 1).unwrap(), [2.5]);
}

/// Numbers at an address that is a multiple of 64, and the memory that has them.
fn aligned(count: usize) -> (Vec<f32>, &'static mut [f32]) {
    let mut memory = vec![1.5f32; count + 16];
    let start = memory.as_ptr().align_offset(64);
    // SAFETY: the memory, which goes along, has this number of elements from there on.
    let numbers = unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().add(start), count) };
    (memory, numbers)
}

/// A buffer of numbers that the client does not change until it hears that it may.
fn lend(client: &ClientCreate, numbers: &[f32]) -> ClientBufferFromHostBuffer {
    let mut create = buffer(client, &[1], &[0.0]);
    let dims = [numbers.len() as i64];
    (create.data, create.dims) = (numbers.as_ptr().cast(), dims.as_ptr());
    create.host_buffer_semantics = IMMUTABLE_ZERO_COPY;
    call(Slot::Client_BufferFromHostBuffer, &mut create).unwrap();
    create
}

/// Results that are an argument, or a part of one, stay if the client writes its memory.
#[test]
fn results_are_not_in_memory_of_the_client() {
    let client = client(2);
    const COUNT: usize = 1 << 14;
    for (half, donated) in [(false, ""), (true, ""), (false, "{tf.aliasing_output = 0 : i32}")] {
        let result = if half { COUNT / 2 } else { COUNT };
        let body = match half {
            true => format!(
                "%0 = stablehlo.slice %x [0:{result}] : (tensor<{COUNT}xf32>) -> tensor<{result}xf32>
                 return %0"
            ),
            false => "return %x".to_string(),
        };
        let text = format!(
            "func.func @main(%x: tensor<{COUNT}xf32> {donated}) -> tensor<{result}xf32> {{
               {body} : tensor<{result}xf32>
             }}"
        );
        let program = compile(&client, &text).unwrap();
        let (_memory, numbers) = aligned(COUNT);
        let lent = lend(&client, numbers);
        let found = execute(&program, &[lent]).unwrap();
        assert_eq!(elements(found, result).unwrap(), vec![1.5; result], "{text}");
        numbers.fill(7.0);
        assert_eq!(elements(found, result).unwrap(), vec![1.5; result], "{text}");
    }
    // A copy on another device is one.
    let (_memory, numbers) = aligned(COUNT);
    let lent = lend(&client, numbers);
    let mut copy: BufferCopyToDevice = args();
    copy.buffer = lent.buffer;
    copy.device = buffer_on(&client, 1, &[1], &[0.0]).device;
    call(Slot::Buffer_CopyToDevice, &mut copy).unwrap();
    numbers.fill(7.0);
    assert_eq!(elements(copy.copy, COUNT).unwrap(), vec![1.5; COUNT]);
}

/// Memory that is aligned to less than 64 bytes is copied, as by XLA.
#[test]
fn other_memory_of_the_client_is_copied() {
    let client = client(1);
    let (_memory, numbers) = aligned((1 << 14) + 4);
    let lent = lend(&client, &numbers[4..]);
    numbers.fill(7.0);
    assert_eq!(elements(lent.buffer, 1 << 14).unwrap(), vec![1.5; 1 << 14]);
}
