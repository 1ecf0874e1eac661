/** A sample value: the shortest decimal that reads back as the same float64 (OpenMetrics 1.0, "Numbers"). */
export function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/**
 * The value of an `le` label as OpenMetrics wants it (1.0, "Canonical Numbers"): what Go prints with `%g`,
 * and `.0` where that shows neither point nor exponent.
 */
export function formatCanonicalFloat(value: number): string {
  if (!Number.isFinite(value)) return formatValue(value);
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Number.isInteger(value) ? `${value}.0` : String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
