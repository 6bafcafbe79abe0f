"""Classes of ImageNette and ImageWoof by WordNet id (the folder names): what they are, their outputs in ImageNet-1K."""

CLASSES = {
    # ImageNette
    "n01440764": ("tench", 0),
    "n02102040": ("English springer", 217),
    "n02979186": ("cassette player", 482),
    "n03000684": ("chain saw", 491),
    "n03028079": ("church", 497),
    "n03394916": ("French horn", 566),
    "n03417042": ("garbage truck", 569),
    "n03425413": ("gas pump", 571),
    "n03445777": ("golf ball", 574),
    "n03888257": ("parachute", 701),
    # ImageWoof
    "n02086240": ("Shih-Tzu", 155),
    "n02087394": ("Rhodesian ridgeback", 159),
    "n02088364": ("beagle", 162),
    "n02089973": ("English foxhound", 167),
    "n02093754": ("Border terrier", 182),
    "n02096294": ("Australian terrier", 193),
    "n02099601": ("golden retriever", 207),
    "n02105641": ("Old English sheepdog", 229),
    "n02111889": ("Samoyed", 258),
    "n02115641": ("dingo", 273),
}
IMAGENET_INDEX = {key: index for key, (_, index) in CLASSES.items()}


def in_words(name: str) -> str:
    """What a class is called, where its name is a WordNet id that is known."""
    return CLASSES[name][0] if name in CLASSES else name
