class A:
    def f(self):
        return 0
class B:
    def e(self):
        return 0
    def f(self):
        return 2
