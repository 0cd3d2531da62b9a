// Computes the codewords of QR codes that correct errors: a Reed-Solomon code over the field of 256 elements.

// Powers of 2 in the field, twice, so that sums of two logarithms need no remainder; and the logarithms.
const powers = new Uint8Array(510);
const logs = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  powers[power] = powers[power + 255] = value;
  logs[value] = power;
  value = value << 1 ^ (value >> 7) * 0x11d;
}
const times = (left, right) => left && right ? powers[logs[left] + logs[right]] : 0;

/** The coefficients of (x - 2⁰)(x - 2¹)…, the highest first, without the leading one. */
function generator(degree) {
  let all = [1];
  for (let power = 0; power < degree; power++) {
    all = [...all, 0].map((factor, at) => factor ^ times(all[at - 1] ?? 0, powers[power]));
  }
  return all.slice(1);
}

/** The remainder of the data, as a polynomial, divided by the generator: `count` codewords. */
export function corrections(data, count) {
  const factors = generator(count);
  let rest = new Array(count).fill(0);
  for (const value of data) {
    const lead = value ^ rest[0];
    rest = factors.map((factor, at) => (rest[at + 1] ?? 0) ^ times(factor, lead));
  }
  return rest;
}
