//! Places of devices in meshes.

use side_dialects::sdy::Mesh;

fn mesh(device_ids: Option<Vec<usize>>) -> Mesh {
    Mesh::new(vec![("x".into(), 2), ("y".into(), 4)], device_ids).expect("eight devices")
}

#[test]
fn axes_make_groups() {
    let mesh = mesh(None);
    let (x, y) = (mesh.axis("x").expect("an axis"), mesh.axis("y").expect("an axis"));
    let place = mesh.place(6).expect("a device");
    assert_eq!(place, [1, 2]);
    assert_eq!(mesh.group(&place, &[x]), [2, 6]);
    assert_eq!(mesh.group(&place, &[y]), [4, 5, 6, 7]);
    assert_eq!(mesh.group(&place, &[y, x]), [0, 4, 1, 5, 2, 6, 3, 7]);
    // "y":(1)2 is the major half of y, "y":(2)2 the minor one.
    let (major, minor) = (mesh.part("y", Some((1, 2))), mesh.part("y", Some((2, 2))));
    assert_eq!(mesh.group(&place, &[major.expect("a part")]), [4, 6]);
    assert_eq!(mesh.group(&place, &[minor.expect("a part")]), [6, 7]);
    assert_eq!(mesh.part("y", Some((3, 2))), None);
}

#[test]
fn devices_may_be_in_another_order() {
    let mesh = mesh(Some(vec![7, 6, 5, 4, 3, 2, 1, 0]));
    assert_eq!(mesh.place(6), Some(vec![0, 1]));
    assert_eq!(mesh.device(&[0, 1]), 6);
    assert_eq!(mesh.place(8), None);
}
