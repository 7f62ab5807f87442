//! The client of the library and this plugin: values, and messages about plugins that are broken.

use pjrt_abi::Slot;
use stablo::{Device, DeviceSpec, Error, Module, RunOptions, RuntimeValue, Tensor};
use std::path::{Path, PathBuf};
use std::process::Command;

/// This plugin, as a shared library beside the test.
fn plugin() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name =
        format!("{}stablo_pjrt{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folders = test.ancestors().skip(1).take(2);
    let mut found = folders.map(|folder| folder.join(&name)).filter(|path| path.exists());
    found.next().expect("cargo builds the library for its tests")
}

fn spec(path: &Path) -> DeviceSpec {
    format!("pjrt:{}", path.display()).parse().unwrap()
}

fn load(text: &str) -> Module {
    stablo::load("test.mlir", text).unwrap()
}

fn numbers(shape: &[usize], elements: &[f32]) -> RuntimeValue {
    Tensor::from_vec(shape, elements.to_vec()).unwrap().into()
}

fn elements(value: &RuntimeValue) -> Vec<f32> {
    value.tensor().unwrap().to_vec::<f32>().unwrap()
}

const SUM: &str = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}";

/// Adds the shards of two devices.
const SHARDED: &str = "module {
  sdy.mesh @mesh = <[\"a\"=2]>
  func.func @main(%x: tensor<2xf32>) -> tensor<1xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}]>] out_shardings=[<@mesh, [{}]>]
        manual_axes={\"a\"} (%s: tensor<1xf32>) {
      %1 = \"stablehlo.all_reduce\"(%s) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %2 = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %1 : tensor<1xf32>
    } : (tensor<2xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}";

#[test]
fn programs_for_several_devices_run_as_processes() {
    let device = Device::open(&spec(&plugin())).unwrap();
    let results = device.run(&load(SHARDED), "main", &[numbers(&[2], &[1.0, 2.0])]).unwrap();
    assert_eq!(elements(&results[0]), [3.0]);
}

#[test]
fn a_program_runs_and_runs_again() {
    let device = Device::open(&spec(&plugin())).unwrap();
    assert_eq!(device.target(), stablo::Version::CURRENT);
    let expected = format!("stablo (stablo), PJRT 0.114, StableHLO {}, 1 device", device.target());
    assert_eq!(device.describe().unwrap(), expected);
    let program = device.compile(&load(SUM), "main").unwrap();
    for x in [1.5f32, -0.0, f32::INFINITY] {
        let results = program.run(&[numbers(&[2], &[x, 3.0])]).unwrap();
        assert_eq!(elements(&results[0]), [x + x, 6.0]);
    }
    let error = program.run(&[]).unwrap_err().to_string();
    assert!(error.contains("the function takes 1 argument, found 0"), "{error}");
    let error = program.run(&[numbers(&[3], &[0.0; 3])]).unwrap_err().to_string();
    assert!(error.contains("the input for argument 0 is no tensor<2xf32>"), "{error}");
}

/// Options reach the plugin, and those that it refuses end in its message.
#[test]
fn options_are_passed_on() {
    let open = |options: &str| {
        let spec = format!("pjrt:{}{options}", plugin().display());
        Device::open(&spec.parse()?)?.describe()
    };
    assert!(open(",num_devices=3").unwrap().ends_with("3 devices"));
    assert!(open(",platform_name=cpu").unwrap().starts_with("stablo (cpu)"));
    let error = open(",num_devices=0").unwrap_err().to_string();
    let expected = "PJRT_Client_Create failed: INVALID_ARGUMENT: num_devices is 0: the number of \
                    devices must be from 1";
    assert!(error.contains(expected), "{error}");
}

/// Another function than `main`, of which there is one, too; ops of CHLO; a token; no elements.
#[test]
fn programs_are_made_ready_for_plugins() {
    let text = "module {
      func.func private @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
        return %0 : tensor<2xf32>
      }
      func.func public @other(%t: !stablehlo.token, %x: tensor<2xf32>, %n: tensor<0x3xi4>)
          -> (tensor<0x3xi4>, !stablehlo.token, tensor<2xf32>) {
        %0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>
        %1 = call @main(%0) : (tensor<2xf32>) -> tensor<2xf32>
        %2 = stablehlo.after_all %t, %t : !stablehlo.token
        return %n, %2, %1 : tensor<0x3xi4>, !stablehlo.token, tensor<2xf32>
      }
    }";
    let nothing = Tensor::zeros(stablo::DType::I4, [0, 3]).unwrap();
    let inputs = [RuntimeValue::Token, numbers(&[2], &[2.0, 3.0]), nothing.into()];
    let device = Device::open(&spec(&plugin())).unwrap();
    let results = device.run(&load(text), "other", &inputs).unwrap();
    assert_eq!(elements(&results[2]), [16.0, 81.0]);
    assert!(matches!(results[1], RuntimeValue::Token));
    assert_eq!(results[0].tensor().unwrap().shape(), [0, 3]);
}

#[test]
fn dynamic_programs_become_static_for_their_inputs() {
    let text = "func.func @main(%x: tensor<?x2xf32>) -> tensor<?xf32> {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
        : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }";
    let device = Device::open(&spec(&plugin())).unwrap();
    for rows in [1, 3] {
        let all: Vec<f32> = (0..2 * rows).map(|n| n as f32).collect();
        let results = device.run(&load(text), "main", &[numbers(&[rows, 2], &all)]).unwrap();
        // The sum of 2 n and 2 n + 1.
        let expected: Vec<f32> = (0..rows).map(|row| 4.0 * row as f32 + 1.0).collect();
        assert_eq!(elements(&results[0]), expected);
    }
    let error = device.compile(&load(text), "main").err().unwrap().to_string();
    assert!(error.contains("tensor<?x2xf32>, not a static tensor"), "{error}");
}

/// Random inputs of all element types that the interface knows: the bytes of a run without it.
#[test]
fn all_element_types_pass() {
    let device = Device::open(&spec(&plugin())).unwrap();
    let types = "i1 i2 ui2 i4 ui4 i8 ui8 i16 ui16 i32 ui32 i64 ui64 f16 bf16 f32 f64 f8E5M2 \
        f8E4M3FN f8E4M3B11FNUZ f8E5M2FNUZ f8E4M3FNUZ f8E4M3 f8E3M4 f8E8M0FNU f4E2M1FN f6E2M3FN \
        f6E3M2FN complex<f32> complex<f64>";
    for ty in types.split_whitespace() {
        let text = format!(
            "func.func @main(%x: tensor<5x3x{ty}>) -> tensor<3x5x{ty}> {{
              %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<5x3x{ty}>) -> tensor<3x5x{ty}>
              return %0 : tensor<3x5x{ty}>
            }}"
        );
        let module = load(&text);
        let program = stablo::Program::prepare(module.clone(), "main", RunOptions::default());
        let program = program.unwrap();
        let inputs = stablo::random_inputs(program.signature().0, 1).unwrap();
        let found = device.run(&module, "main", &inputs).unwrap();
        let expected = program.run(inputs).unwrap();
        let bytes = |values: &[RuntimeValue]| values[0].tensor().unwrap().bytes().to_vec();
        assert_eq!(bytes(&found), bytes(&expected), "{ty}");
    }
}

#[test]
fn texts_of_devices() {
    let parse = |text: &str| text.parse::<DeviceSpec>().map(|spec| spec.to_string());
    let same = "pjrt:a/b.so,n=3,x=-1.5,on=true,name=tfrt cpu,empty=";
    assert_eq!(parse(same).unwrap(), same);
    for (text, why) in [
        ("cpu", "it does not begin with `pjrt:`"),
        ("pjrt:", "there is no path of a plugin"),
        ("pjrt:,a=1", "there is no path of a plugin"),
        ("pjrt:a.so,b", "the option `b` has not the form name=value"),
        ("pjrt:a.so,=b", "the option `=b` has not the form name=value"),
        ("pjrt:a.so,b=1,b=2", "the option `b` is there twice"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with("error[device]: ") && error.ends_with(why), "{error}");
    }
}

/// Builds a broken plugin. `None` if there is no compiler of C.
fn broken(name: &str, flags: &[String]) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("broken_{name}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/broken.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-w", "-o"]).arg(&path).arg(source);
    cc.arg(format!("-DPLUGIN=\"{}\"", plugin().display())).args(flags).arg("-ldl");
    let output = cc.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(path)
}

fn run(path: &Path) -> Result<Vec<RuntimeValue>, Error> {
    Device::open(&spec(path))?.run(&load(SUM), "main", &[numbers(&[2], &[1.0, 2.0])])
}

#[test]
#[cfg(unix)]
fn files_that_are_no_plugins_are_refused() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let text = folder.join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let libc = Path::new("libm.so.6");
    for (path, why) in [
        (folder.join("missing.so"), "cannot be loaded as a shared library: "),
        (folder.clone(), "it is a directory, a shared library is required"),
        (text, "cannot be loaded as a shared library: "),
        // A name without a folder is a file, not a library of the system.
        (libc.to_path_buf(), "cannot be loaded as a shared library: "),
    ] {
        let error = Device::open(&spec(&path)).err().unwrap().to_string();
        assert!(error.contains(&format!("{}: ", path.display())), "{error}");
        assert!(error.contains(why), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn broken_plugins_are_reported() {
    let slot = |slot: Slot| format!("-DSLOT={}", slot as usize);
    let fault = |name: &str| format!("-D{name}");
    let null =
        |own: Slot, word: usize| vec![slot(own), fault("NULL_OBJECT"), format!("-DOBJECT={word}")];
    let with = |name: &str, own: Slot| vec![slot(own), fault(name)];
    let any = slot(Slot::Error_Destroy);
    let cases = [
        (
            vec!["-DGetPjrtApi=OtherName".to_string(), any.clone()],
            "exports no function `GetPjrtApi`",
        ),
        (vec![fault("NULL_TABLE"), any.clone()], "`GetPjrtApi` returned null"),
        (vec![fault("SHORT_HEADER"), any.clone()], "its table has 8 bytes, too few for a version"),
        (
            vec![fault("OLD"), any.clone()],
            "it has version 0.30 of the PJRT interface; version 0.54 or a later 0.x is required",
        ),
        (vec![fault("OTHER_MAJOR"), any], "it has version 1.114 of the PJRT interface"),
        (
            with("SHORT_TABLE", Slot::Client_AddressableDevices),
            "its table, of version 0.114, ends before PJRT_Client_AddressableDevices",
        ),
        (
            with("NULL_SLOT", Slot::Client_Create),
            "its table, of version 0.114, has null for PJRT_Client_Create",
        ),
        (
            with("FAILING", Slot::Client_Create),
            "PJRT_Client_Create failed: INVALID_ARGUMENT: a Client is required, found null",
        ),
        (
            with("FAILING", Slot::Event_Await),
            "PJRT_Event_Await failed: INVALID_ARGUMENT: a Client is required, found null",
        ),
        (
            with("NO_DEVICES", Slot::Client_AddressableDevices),
            "PJRT_Client_AddressableDevices answered wrongly: there is no device",
        ),
        (null(Slot::Client_Create, 8), "PJRT_Client_Create answered wrongly: there is no client"),
        (
            null(Slot::Client_Compile, 6),
            "PJRT_Client_Compile answered wrongly: there is no executable",
        ),
        (
            null(Slot::Client_BufferFromHostBuffer, 14),
            "PJRT_Client_BufferFromHostBuffer answered wrongly: there is no buffer",
        ),
        (
            with("FEW_RESULTS", Slot::Executable_NumOutputs),
            "the program that it compiled has 0 results, the function 1",
        ),
        (
            with("MANY_RESULTS", Slot::Executable_NumOutputs),
            "PJRT_Executable_NumOutputs answered wrongly: the program has 1099511627776 results",
        ),
        (
            with("NULL_RESULT", Slot::LoadedExecutable_Execute),
            "PJRT_LoadedExecutable_Execute answered wrongly: there is no result 0",
        ),
        (with("OTHER_SHAPE", Slot::Buffer_Dimensions), "a result of 28 bytes is said to have 8"),
        (
            with("NEGATIVE_SHAPE", Slot::Buffer_Dimensions),
            "PJRT_Buffer_Dimensions answered wrongly: the shape is [-7]",
        ),
        (with("OTHER_TYPE", Slot::Buffer_ElementType), "a result of 16 bytes is said to have 8"),
        (
            with("UNKNOWN_TYPE", Slot::Buffer_ElementType),
            "a result has the element type number 99, which is unknown",
        ),
        (with("OTHER_SIZE", Slot::Buffer_ToHostBuffer), "a result of 8 bytes is said to have 5"),
    ];
    for (index, (flags, expected)) in cases.iter().enumerate() {
        let Some(path) = broken(&index.to_string(), flags) else {
            return println!("skipped: there is no compiler of C");
        };
        let error = run(&path).err().unwrap_or_else(|| panic!("{flags:?}")).to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
}

/// The plugins that STABLO_TEST_PLUGINS lists with `:` between, such as XLA's: `.ci/pjrt` sets it.
#[test]
fn other_plugins_run_programs() {
    let Ok(plugins) = std::env::var("STABLO_TEST_PLUGINS") else {
        return println!("skipped: STABLO_TEST_PLUGINS names no plugins");
    };
    let text = "func.func @main(%x: tensor<3x2xf32>, %n: tensor<2xi32>)
          -> (tensor<2x3xf32>, tensor<2xi32>, tensor<f64>) {
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.multiply %n, %n : tensor<2xi32>
      %2 = stablehlo.constant dense<0.1> : tensor<f64>
      return %0, %1, %2 : tensor<2x3xf32>, tensor<2xi32>, tensor<f64>
    }";
    let module = load(text);
    for plugin in plugins.split(':') {
        let device = Device::open(&spec(Path::new(plugin))).unwrap();
        let n = Tensor::from_vec([2], vec![-3i32, 5]).unwrap();
        let inputs = [numbers(&[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), n.into()];
        let results = device.run(&module, "main", &inputs).unwrap();
        assert_eq!(elements(&results[0]), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0], "{plugin}");
        assert_eq!(results[1].tensor().unwrap().to_vec::<i32>().unwrap(), [9, 25]);
        assert_eq!(results[2].tensor().unwrap().item::<f64>().unwrap(), 0.1);
        let unknown = SUM.replace("stablehlo.add %x, %x", "stablehlo.custom_call @nothing(%x)");
        let unknown = unknown
            .replace(": tensor<2xf32>\n  return", ": (tensor<2xf32>) -> tensor<2xf32>\n  return");
        let error = device.run(&load(&unknown), "main", &[numbers(&[2], &[0.0; 2])]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("nothing"), "{error}");
        let error = device.compile(&load(SHARDED), "main").err().unwrap().to_string();
        assert!(error.contains("the program is for several devices"), "{error}");
    }
}
