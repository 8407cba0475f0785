interface Example {
  readonly label: string;
  readonly make: (bucket: string) => object;
}

function statement(effect: string, action: string | readonly string[], resource: string | readonly string[]) {
  return { Version: '2012-10-17', Statement: [{ Effect: effect, Principal: '*', Action: action, Resource: resource }] };
}

const arn = (bucket: string) => `arn:aws:s3:::${bucket}`;

export const POLICY_EXAMPLES: readonly Example[] = [
  {
    label: 'Anyone may read objects',
    make: (bucket) => statement('Allow', 's3:GetObject', `${arn(bucket)}/*`),
  },
  {
    label: 'Anyone may read one folder',
    make: (bucket) => statement('Allow', 's3:GetObject', `${arn(bucket)}/public/*`),
  },
  {
    label: 'Nobody may delete objects or versions',
    make: (bucket) => statement('Deny', ['s3:DeleteObject', 's3:DeleteObjectVersion'], `${arn(bucket)}/*`),
  },
  {
    label: 'Only encrypted connections',
    make: (bucket) => ({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Deny',
          Principal: '*',
          Action: 's3:*',
          Resource: [arn(bucket), `${arn(bucket)}/*`],
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ],
    }),
  },
];

/** What a policy lets everyone do, signed in or not; empty where it opens nothing to everyone. */
export function openedToAll(text: string): string[] {
  const { Statement: given = [] } = JSON.parse(text) as { Statement?: Allowing | Allowing[] };
  const open = [given].flat().filter((one) => one.Effect === 'Allow' && hasEveryone(one));
  return open.flatMap(({ Action = 'everything else' }) => Action);
}

interface Allowing {
  readonly Effect?: string;
  readonly Principal?: unknown;
  readonly NotPrincipal?: unknown;
  readonly Action?: string | string[];
}

/** Who is not signed in is among all but some. */
function hasEveryone({ Principal, NotPrincipal }: Allowing): boolean {
  return NotPrincipal === undefined ? isEveryone(Principal) : !isEveryone(NotPrincipal);
}

function isEveryone(principal: unknown): boolean {
  if (typeof principal === 'object' && principal !== null) return Object.values(principal).flat().includes('*');
  return principal === '*';
}

/** Says what is wrong before it is sent; what only the service can know, it says itself. */
export function policyProblem(text: string, bucket: string): string | undefined {
  let policy: unknown;
  try {
    policy = JSON.parse(text);
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const { Statement: given } = (policy ?? {}) as { Statement?: unknown };
  const statements = Array.isArray(given) ? given : given === undefined ? [] : [given];
  if (statements.length === 0) return 'A policy has a Statement.';
  for (const [index, one] of statements.entries()) {
    const problem = statementProblem((one ?? {}) as Record<string, unknown>, bucket);
    if (problem !== undefined) return `Statement ${index + 1}: ${problem}`;
  }
  return undefined;
}

function statementProblem(one: Record<string, unknown>, bucket: string): string | undefined {
  if (one['Effect'] !== 'Allow' && one['Effect'] !== 'Deny') return 'Effect is Allow or Deny.';
  if (one['Principal'] === undefined && one['NotPrincipal'] === undefined)
    return 'Principal is missing; * is everyone.';
  if (one['Action'] === undefined && one['NotAction'] === undefined) return 'Action is missing, such as s3:GetObject.';
  const resources = [one['Resource'] ?? one['NotResource'] ?? []].flat();
  if (resources.length === 0) return `Resource is missing, such as arn:aws:s3:::${bucket}/*.`;
  const isOwn = (resource: unknown) =>
    typeof resource === 'string' &&
    (resource === arn(bucket) || resource.startsWith(`${arn(bucket)}/`) || /^[^/]*\*/.test(resource));
  return resources.every(isOwn)
    ? undefined
    : `Resource names this bucket: arn:aws:s3:::${bucket} or arn:aws:s3:::${bucket}/*.`;
}
