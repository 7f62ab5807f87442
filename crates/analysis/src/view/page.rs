//! The page that shows a program: markup, styles, scripts and the model of the program in one text.

/// The page without its parts, each of which takes the place of its name in braces.
const PAGE: &str = include_str!("page/page.html");

/// The page that shows a model in JSON.
///
/// The model comes from a program, which may hold anything: no `<` is left in it, so that it cannot
/// end its element, and scripts put its texts into the page as text only.
pub(crate) fn html(model: &str) -> String {
    let mut rest = PAGE;
    let mut html = String::with_capacity(model.len() + (1 << 18));
    let model = model.replace('<', "\\u003c");
    let parts = [
        ("{{styles}}", include_str!("page/page.css")),
        ("{{model}}", &model),
        ("{{licences}}", include_str!("page/libraries/LICENSES.txt")),
        ("{{libraries}}", include_str!("page/libraries/libraries.min.js")),
        ("{{model.js}}", include_str!("page/model.js")),
        ("{{groups.js}}", include_str!("page/groups.js")),
        ("{{edges.js}}", include_str!("page/edges.js")),
        ("{{layout.js}}", include_str!("page/layout.js")),
        ("{{graph.js}}", include_str!("page/graph.js")),
        ("{{minimap.js}}", include_str!("page/minimap.js")),
        ("{{export.js}}", include_str!("page/export.js")),
        ("{{details.js}}", include_str!("page/details.js")),
        ("{{search.js}}", include_str!("page/search.js")),
        ("{{page.js}}", include_str!("page/page.js")),
    ];
    // In sequence: a part that mentions the place of another is left as it is.
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
        html.push_str(before);
        html.push_str(part);
        rest = after;
    }
    html.push_str(rest);
    html
}
