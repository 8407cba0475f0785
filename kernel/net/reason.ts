/** Why a connection failed, in a few words for an error's message. */
export function connectionReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error.message.slice(0, 200) || error.name;
  if (/CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET/.test(code)) return `its certificate is not trusted (${code})`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'it does not answer encrypted';
  return words[code] ?? error.message.slice(0, 200);
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it hung up',
  EPIPE: 'it hung up',
  ENOTFOUND: 'the name is not known',
  ENODATA: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ETIMEDOUT: 'it did not answer in time',
  EHOSTUNREACH: 'there is no way there',
  ENETUNREACH: 'there is no way there',
};
