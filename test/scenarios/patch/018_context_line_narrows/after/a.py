def one():
    return 0
def two():
    return 2
