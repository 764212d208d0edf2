"""Static files under names that hold their digest, imports between JavaScript modules included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage, which also renames what modules import: otherwise they would be cached by their old names."""

    support_js_module_import_aggregation = True
