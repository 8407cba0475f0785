const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Whether HTTP takes it for the name of a header: with another one a reply could not be sent. */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}
