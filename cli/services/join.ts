import { createHash, X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { ApiError, portalClient, type PortalClient } from '@granary/client';
import type { RunningCloud } from '@granary/cloud';
import {
  certificateFingerprint,
  isEveryAddress,
  isNotTls,
  parseJoinCode,
  probeChain,
  secureFetch,
  type CloudIssuerFiles,
  type Issuer,
  type ReadJoinCode,
} from '@granary/kernel/tls';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import { explainConnection } from '../output/connection.ts';

const PROBE_MS_MAX = 10_000;
/** The portal connects back to this cloud before it answers. */
const ANSWER_MS_MAX = 30_000;

export function readJoinCode(text: string): ReadJoinCode {
  const code = parseJoinCode(text);
  if (!code)
    throw usageFailure('--join: this is not a whole join code; copy all of what `granary clouds join-code` says.');
  return code;
}

/** The portal of a join code, known by the certificate that the code pins, and the authority of its installation. */
export interface PortalToJoin {
  readonly code: ReadJoinCode;
  readonly client: PortalClient;
  readonly authority: string;
}

/** What is kept of a code: enough to know it again. */
export function markOf({ portal, secret }: ReadJoinCode): string {
  return createHash('sha256').update(`${portal} ${secret}`).digest('hex');
}

/** Nothing is sent to a server that does not show the certificate of the code. */
export async function findPortal(code: ReadJoinCode): Promise<PortalToJoin> {
  const pinned = await pinnedCertificate(code);
  const client = portalClient({
    url: `https://${code.portal}`,
    fetch: secureFetch({ trusted: [pinned], problemOf: (shown) => portalProblem(shown, pinned) }),
    timeoutMs: ANSWER_MS_MAX,
  });
  const { data } = await called(code, () => client.clouds.authority());
  return { code, client, authority: data.certificate };
}

interface JoiningCloud {
  readonly cloud: RunningCloud;
  readonly files: CloudIssuerFiles;
  readonly unsigned: Issuer;
  readonly names: readonly string[];
}

/** Has the key of this cloud signed and the cloud registered; from then on it and its arrays show what was signed. */
export async function joinPortal(
  portal: PortalToJoin,
  { cloud, files, unsigned, names }: JoiningCloud,
): Promise<string> {
  const { code, client, authority } = portal;
  const { host, port } = cloud.address;
  const { data } = await called(code, () =>
    client.clouds.join({
      code: code.secret,
      certificate: unsigned.certificate,
      host: names[0] ?? (isEveryAddress(host) ? undefined : host),
      port,
      admin_user: cloud.adminUser,
      admin_key: cloud.adminKey,
    }),
  );
  const issuer = files.accept(data.certificate, authority);
  files.keepJoinedBy(markOf(code));
  await cloud.useIssuer(issuer);
  return data.name;
}

async function pinnedCertificate({ portal, place, fingerprint }: ReadJoinCode): Promise<string> {
  const chain = await probeChain({ ...place, timeoutMs: PROBE_MS_MAX }).catch((error: unknown) => {
    if (isNotTls(error)) throw unreachable(`${portal} does not speak TLS; nothing was sent.`);
    throw unreachable(`No portal answered at ${portal}: ${(error as Error).message}.`);
  });
  const pinned = chain.find((one) => certificateFingerprint(one) === fingerprint);
  if (pinned !== undefined) return pinned;
  const shown = chain.map(certificateFingerprint).at(-1);
  throw unreachable(
    `${portal} is not the portal of this join code, or its certificate has changed: ` +
      `it shows SHA-256 ${shown}, not ${fingerprint}. Nothing was sent.`,
  );
}

/** Clouds have certificates under the same authority; only the authority itself signs the portal's. */
function portalProblem({ raw }: PeerCertificate, pinned: string): Error | undefined {
  const shown = new X509Certificate(raw);
  const known = new X509Certificate(pinned);
  const isPortals = shown.fingerprint256 === known.fingerprint256 || shown.verify(known.publicKey);
  return isPortals ? undefined : new Error("its certificate is not the portal's");
}

async function called<T>({ portal }: ReadJoinCode, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ApiError)
      throw new CommandFailure(exitCodes.failed, `The portal at ${portal} says: ${error.message}`, { cause: error });
    const explained = await explainConnection(error);
    throw explained instanceof CommandFailure ? explained : unreachable((error as Error).message);
  }
}

function unreachable(message: string): CommandFailure {
  return new CommandFailure(exitCodes.noConnection, message);
}
