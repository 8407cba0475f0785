import { ConnectionError } from '@granary/client';
import { isNotTls } from '@granary/kernel/tls';
import { CommandFailure, exitCodes } from '../exit.ts';
import { isUnknownAuthority, shownBy } from '../trust.ts';

/** A lost connection whose cause is TLS, or the want of it, in words that name the cause and what to do; else as it is. */
export async function explainConnection(error: unknown): Promise<unknown> {
  if (!(error instanceof ConnectionError)) return error;
  const sentence = await sentenceFor(error);
  return sentence === undefined ? error : new CommandFailure(exitCodes.noConnection, sentence, { cause: error });
}

async function sentenceFor({ address, cause }: ConnectionError): Promise<string | undefined> {
  const failure = innermost(cause);
  const { code = '' } = failure;
  if (address.startsWith('http:')) {
    if (!/ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_/.test(code) || (await shownBy(address)).length === 0) return undefined;
    return `${address} speaks TLS, not plain HTTP; write it as ${address.replace(/^http:/, 'https:')}.`;
  }
  if (!address.startsWith('https:')) return undefined;
  if (isNotTls(failure))
    return `${address} speaks plain HTTP, not TLS; if that is meant, write it as ${address.replace(/^https:/, 'http:')}.`;
  if (isUnknownAuthority(code))
    return `${address} shows a certificate of an authority that is not trusted. Sign in with \`granary login --url ${address}\` to see it and trust it, or give it with --ca FILE.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${address} is for other names: ${namesIn(failure)}. Use one of them, or have the operator add this one with --tls-name.`;
  if (code === 'CERT_HAS_EXPIRED')
    return `The certificate of ${address} has expired. The operator must renew it; check the clock of this machine, too.`;
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${address} is not valid yet; check the clocks of both machines.`;
  return undefined;
}

/** What a certificate that does not fit is for; identifiers of our own are no names. */
function namesIn(failure: Error): string {
  const { cert } = failure as { cert?: { subjectaltname?: string } };
  const names = (cert?.subjectaltname ?? '').split(', ').filter((name) => !name.startsWith('URI:'));
  return names.map((name) => name.replace(/^(DNS|IP Address):/, '')).join(', ') || 'none';
}

/** `fetch` hides what went wrong one level down. */
function innermost(error: unknown): NodeJS.ErrnoException {
  let failure = error as NodeJS.ErrnoException;
  while (failure.code === undefined && failure.cause instanceof Error) failure = failure.cause;
  return failure;
}
