"""Settings of the documentation; ``make docs`` builds it without a network."""

import importlib.util
import os
import sys
from pathlib import Path

from docutils import nodes

import aucmax

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_order

project = "aucmax"
author = "The aucmax developers"
copyright = author
version = release = aucmax.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "notfound.extension",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]

# -- On the site alone, which has a network: links into the documentation of others ---
_on_site = os.environ.get("READTHEDOCS") == "True"
if _on_site:
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "polars": ("https://docs.pola.rs/api/python/stable", None),
}

# -- Python objects ------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's "Parameters" sections carry the types
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the class template lists them
default_role = "literal"
# PyTorch is an extra, and large: where it is missing, signatures and docstrings will do
_has_torch = importlib.util.find_spec("torch") is not None
autodoc_mock_imports = [
    name for name in ("onnx", "torch") if importlib.util.find_spec(name) is None
]


def skip_routing_methods(app, what, name, obj, skip, options):
    """Leave out the ``set_*_request`` methods that scikit-learn adds to classes."""
    return True if name.startswith("set_") and name.endswith("_request") else skip


def unlink_metric_names(app, doctree):
    """Show "precision@100" as text; docutils takes it for an e-mail address."""
    for node in list(doctree.findall(nodes.reference)):
        if node.get("refuri", "").startswith("mailto:"):
            node.parent.replace(node, node.children)


def write_llms_txt(app, error):
    """List the pages with their first sentences, for programs that read text."""
    if error or app.builder.name != "html":
        return
    lines = ["# aucmax", "", f"> {myst_html_meta['description']}", ""]
    for folder in ("", "user_guide", "studies", "reference"):
        for page in sorted((Path(app.srcdir) / folder).glob("*.md")):
            text = page.read_text(encoding="utf-8")
            title, _, body = text.partition("# ")[2].partition("\n\n")
            first = " ".join(body.partition("\n\n")[0].split())
            if (
                title
                and page.stem != "404"
                and not first.startswith(("|", "`", ":", "<", "#"))
            ):
                url = page.relative_to(app.srcdir).with_suffix(".html").as_posix()
                lines.append(f"- [{title}]({url}): {first[:200]}")
    text = "\n".join(lines) + "\n"
    (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def setup(app):
    app.connect("build-finished", write_llms_txt)
    app.connect("autodoc-skip-member", skip_routing_methods)
    app.connect("doctree-read", unlink_metric_names)


# -- Pages in Markdown ---------------------------------------------------------
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# words that people search for
myst_html_meta = {
    "description": "Train and evaluate models that rank: AUC, partial AUC, the top of "
    "the list, censored times, queries, graphs",
    "keywords": "AUC, ROC curve, AUROC, partial AUC, c-statistic, concordance, "
    "ranking, learning to rank, NDCG, imbalanced data, LambdaMART, scikit-learn",
}

# -- Formulas: MathJax out of a package, one file, nothing fetched by a page ----
_mathjax = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
mathjax_path = "tex-svg.js"

# -- Gallery: every example runs at each build, and a failure fails the build ---
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_" if _has_torch else r"plot_\d+_(?!torch)",
    "within_subsection_order": "gallery_order.by_number",
    "backreferences_dir": "reference/generated/backreferences",
    "doc_module": ("aucmax",),
    "reference_url": {"aucmax": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
}

# -- Looks ---------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "aucmax"
html_static_path = ["_static", str(_mathjax / "static/mathjax" / mathjax_path)]
html_css_files = ["aucmax.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {
    "index": [],
    "getting_started": [],
    "architecture": [],
    "reliability": [],
    "performance": [],
    "contributing": [],
    "releasing": [],
    "changelog": [],
}
html_theme_options = {
    "logo": {"text": "aucmax"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if _on_site:
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher"]
    html_theme_options["check_switcher"] = False
    html_theme_options["switcher"] = {
        "json_url": "https://aucmax.readthedocs.io/en/latest/_static/versions.json",
        "version_match": os.environ.get("READTHEDOCS_VERSION", "latest"),
    }
