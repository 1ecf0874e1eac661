/** Formats a sample value: the shortest decimal that parses to the same float64 (OpenMetrics 1.0, "Numbers"). */
export function formatSampleValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

/** Formats the value of an `le` label (OpenMetrics 1.0, "Canonical Numbers"): Go's `%g`, plus `.0` for integers. */
export function formatCanonicalFloat(value: number): string {
  if (!Number.isFinite(value)) return formatSampleValue(value);
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Number.isInteger(value) ? `${value}.0` : String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
