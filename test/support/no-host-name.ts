/** The name of a machine that nothing may ask for. */
export function noHostName(): never {
  throw new Error('Expected the host name not to be asked for');
}
