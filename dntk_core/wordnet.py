"""ImageNet-1K output numbers of the classes of ImageNette and ImageWoof, by WordNet id (the folder names)."""

IMAGENET_INDEX = {
    # ImageNette
    "n01440764": 0,  # tench
    "n02102040": 217,  # English springer
    "n02979186": 482,  # cassette player
    "n03000684": 491,  # chain saw
    "n03028079": 497,  # church
    "n03394916": 566,  # French horn
    "n03417042": 569,  # garbage truck
    "n03425413": 571,  # gas pump
    "n03445777": 574,  # golf ball
    "n03888257": 701,  # parachute
    # ImageWoof
    "n02086240": 155,  # Shih-Tzu
    "n02087394": 159,  # Rhodesian ridgeback
    "n02088364": 162,  # beagle
    "n02089973": 167,  # English foxhound
    "n02093754": 182,  # Border terrier
    "n02096294": 193,  # Australian terrier
    "n02099601": 207,  # golden retriever
    "n02105641": 229,  # Old English sheepdog
    "n02111889": 258,  # Samoyed
    "n02115641": 273,  # dingo
}
