/** Class and detail of a login response in one number (RFC 7143, section 11.13.5). */
export const LoginStatus = {
  success: 0x0000,
  initiatorError: 0x0200,
  authenticationFailure: 0x0201,
  notFound: 0x0203,
  unsupportedVersion: 0x0205,
  missingParameter: 0x0207,
  sessionTypeNotSupported: 0x0209,
  sessionDoesNotExist: 0x020a,
  outOfResources: 0x0302,
} as const;

export type LoginStatusCode = (typeof LoginStatus)[keyof typeof LoginStatus];

/** Ends a login with a response that says why. */
export class LoginRefused extends Error {
  readonly status: LoginStatusCode;

  constructor(status: LoginStatusCode, message: string) {
    super(message);
    this.name = 'LoginRefused';
    this.status = status;
  }
}
