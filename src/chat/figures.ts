// Formats numbers and amounts for people.

export const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Small sums keep enough digits to differ from zero. */
export function dollars(value: number): string {
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`;
}
