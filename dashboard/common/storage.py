"""Static files under names that hold their digest, imports between JavaScript modules included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # WhiteNoise has no types
    """WhiteNoise's storage, which also renames what modules import: browsers would keep it by its old name."""

    support_js_module_import_aggregation = True
    max_post_process_passes = 20  # each may be needed for a module that imports one that imports one ...: Django has 5
