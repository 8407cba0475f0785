/** Codes by which S3 says that something was never set; that a bucket or an object is not there is another matter. */
const UNSET =
  /^NoSuch(?!(?:Bucket|Key|Version|Upload)$)|(?:ConfigurationNotFoundError|ConfigurationNotFound|ControlsNotFoundError)$/;

export function isUnset(code: string): boolean {
  return UNSET.test(code);
}

/** Codes of a service that is away or has too much to do; the portal says so for an array, whatever the status. */
const PASSING = new Set(['ServiceUnavailable', 'SlowDown', 'InternalError']);

/** Whether the same request may be let through a little later. */
export function mayPass({ status, code }: { readonly status: number; readonly code: string }): boolean {
  return status >= 500 || PASSING.has(code);
}
