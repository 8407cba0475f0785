import { generateKeyPairSync } from 'node:crypto';
import { Issuer, TlsSource } from '@granary/kernel';
import { startFakeCloud, type FakeCloud } from './fake-cloud.ts';

type Options = Pick<Parameters<typeof startFakeCloud>[0] & object, 'uuid' | 'adminKey'>;

export interface JoiningCloud {
  readonly cloud: FakeCloud;
  /** What it serves with until its key is signed. */
  readonly unsigned: Issuer;
  /** What it sends with the secret of a code. */
  readonly request: (code: string) => {
    readonly code: string;
    readonly certificate: string;
    readonly host: string;
    readonly port: number;
    readonly admin_user: string;
    readonly admin_key: string;
  };
}

/** A cloud that is about to join by a code: it serves with a certificate that it signed itself. */
export async function startJoiningCloud(options: Options = {}): Promise<JoiningCloud> {
  const now = Date.now();
  const unsigned = Issuer.createUnsigned(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, now);
  const own = unsigned.issue({ role: 'cloud', id: unsigned.id, hosts: ['127.0.0.1'], use: 'server', now });
  const cloud = await startFakeCloud({ ...options, tls: new TlsSource(own) });
  const [host = '', port = ''] = cloud.address.split(':');
  const { certificate } = unsigned;
  return {
    cloud,
    unsigned,
    request: (code) => ({
      code,
      certificate,
      host,
      port: Number(port),
      admin_user: cloud.adminUser,
      admin_key: cloud.adminKey,
    }),
  };
}
