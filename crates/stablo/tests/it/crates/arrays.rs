//! Arrays on disk.

mod npy {
    use arrays::npy::{read, write};
    use numerics::{DType, F8E5M2, I4, Tensor, bf16};

    fn round_trip(tensor: &Tensor) {
        let mut file = Vec::new();
        write(tensor, &mut file).unwrap();
        assert_eq!(file.len() - tensor.bytes().len(), 128);
        assert_eq!(read(file, tensor.dtype()).unwrap(), *tensor);
    }

    #[test]
    fn what_is_written_is_read() {
        round_trip(&Tensor::from_vec([2, 1], vec![1.5f32, -2.0]).unwrap());
        round_trip(&Tensor::scalar(7u64));
        round_trip(&Tensor::from_vec([0], Vec::<f64>::new()).unwrap());
        round_trip(&Tensor::from_vec([2], vec![I4::new(-3), I4::new(7)]).unwrap());
        round_trip(&Tensor::scalar(bf16::from_f32(1.5)));
        round_trip(&Tensor::scalar(F8E5M2::from_bits(0x3C)));
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&b"\x93NUMPY"[..], &[1, 0, header.len() as u8, 0], header.as_bytes(), data].concat()
    }

    #[test]
    fn files_have_types_of_their_own() {
        let short = file("{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", &[2, 0]);
        assert_eq!(read(short, None).unwrap(), Tensor::from_vec([1], vec![2u16]).unwrap());
        let text = file("{'descr': '<U3', 'fortran_order': False, 'shape': (), }", &[]);
        assert!(read(text, None).is_err());
    }

    #[test]
    fn foreign_layouts() {
        let column =
            file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }", &[1, 2, 3, 4]);
        assert_eq!(read(column, DType::I8).unwrap().as_slice::<i8>().unwrap(), [1, 3, 2, 4]);
        let big = file("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", &[1, 2]);
        assert_eq!(read(big, DType::I16).unwrap().as_slice::<i16>().unwrap(), [0x0102]);
        let raw = file("{'descr': '<V2', 'fortran_order': False, 'shape': (), }", &[0x80, 0x3F]);
        assert_eq!(read(raw, DType::BF16).unwrap().item::<bf16>().unwrap().to_f32(), 1.0);
    }

    #[test]
    fn bad_files_are_errors() {
        let bad = |bytes: Vec<u8>, dtype: DType| read(bytes, dtype).unwrap_err().to_string();
        assert!(bad(b"PK".to_vec(), DType::F32).contains("not an .npy"));
        assert!(bad(b"\x93NUMPY".to_vec(), DType::F32).contains("cut off"));
        let header =
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }";
        assert!(bad(file(header, &[]), DType::F32).contains("cut off"));
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (), }";
        assert!(bad(file(header, &[0; 8]), DType::F32).contains("`f8`"));
        let header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }";
        assert!(bad(file(header, &[9]), DType::I4).contains("range"));
    }
}

mod npz {
    use arrays::npz::{Archive, write};
    use numerics::{DType, I4, Tensor};
    use std::io::Cursor;

    #[test]
    fn what_is_written_is_read() {
        let a = Tensor::from_vec([2, 500], vec![1.5f32; 1000]).unwrap();
        let b = Tensor::from_vec([2], vec![I4::new(-3), I4::new(7)]).unwrap();
        for compress in [false, true] {
            let mut file = Cursor::new(Vec::new());
            write([("a", &a), ("layer/b", &b)], compress, &mut file).unwrap();
            let file = file.into_inner();
            assert_eq!(compress, file.len() < 4000);
            let mut archive = Archive::new(file).unwrap();
            assert_eq!(archive.names(), ["a", "layer/b"]);
            assert_eq!(archive.tensor("a", None).unwrap(), a);
            assert_eq!(archive.tensor("layer/b", DType::I4).unwrap(), b);
            assert_eq!(archive.tensor("layer/b", None).unwrap().dtype(), DType::I8);
            assert!(archive.tensor("c", None).unwrap_err().to_string().contains("`c`"));
            assert!(archive.tensor("a", DType::F64).is_err());
        }
    }

    #[test]
    fn tensors_expand_within_a_limit() {
        let zeros = Tensor::splat([1000, 1000], 0f64).unwrap();
        let mut file = Cursor::new(Vec::new());
        write([("zeros", &zeros)], true, &mut file).unwrap();
        let file = file.into_inner();
        assert!(file.len() < 20_000);
        let read = |limit: usize| Archive::new(file.clone()).unwrap().with_limit(limit);
        // 128 bytes are the header.
        assert_eq!(read(8_000_128).tensor("zeros", None).unwrap(), zeros);
        let error = read(8_000_127).tensor("zeros", None).unwrap_err().to_string();
        assert!(error.contains("limit of 8000127 bytes"), "{error}");
    }

    #[test]
    fn damaged_archives_are_errors() {
        assert!(Archive::new(b"PK\x03\x04".to_vec()).is_err());
        assert!(Archive::new(Vec::new()).is_err());
        let mut file = Cursor::new(Vec::new());
        write([("a", &Tensor::scalar(1f32))], true, &mut file).unwrap();
        let file = file.into_inner();
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x41;
            // Any error will do, but no panic.
            let _ = Archive::new(changed).and_then(|mut archive| archive.tensor("a", DType::F32));
            let _ = Archive::new(&file[..at]).and_then(|mut archive| archive.tensor("a", None));
        }
    }
}

mod safetensors {
    use arrays::safetensors::{File, write};
    use numerics::{DType, I4, Tensor, bf16};

    #[test]
    fn what_is_written_is_read() {
        let tensors = [
            ("f32", Tensor::from_vec([2, 1], vec![1.5f32, -2.0]).unwrap()),
            ("bf16", Tensor::scalar(bf16::from_f32(1.5))),
            ("i4", Tensor::from_vec([2], vec![I4::new(-3), I4::new(7)]).unwrap()),
            ("c64", Tensor::zeros(DType::C64, [3]).unwrap()),
            ("empty", Tensor::from_vec([0], Vec::<f64>::new()).unwrap()),
        ];
        let file = write(tensors.iter().map(|(name, tensor)| (*name, tensor))).unwrap();
        let file = File::new(file).unwrap();
        assert_eq!(file.names(), ["bf16", "c64", "empty", "f32", "i4"]);
        for (name, tensor) in &tensors {
            assert_eq!(file.tensor(name, tensor.dtype()).unwrap(), *tensor, "{name}");
        }
        assert!(file.tensor("none", DType::F32).is_err());
        assert!(file.tensor("f32", DType::C64).is_err());
        assert!(File::new("{}").is_err());
    }
}
