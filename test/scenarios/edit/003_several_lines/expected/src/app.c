const both = [1, 2];
const c = 3;
