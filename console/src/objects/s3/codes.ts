/** Codes by which S3 says that something was never set; that a bucket or an object is not there is another matter. */
const UNSET =
  /^NoSuch(?!(?:Bucket|Key|Version|Upload)$)|(?:ConfigurationNotFoundError|ConfigurationNotFound|ControlsNotFoundError)$/;

export function isUnset(code: string): boolean {
  return UNSET.test(code);
}
