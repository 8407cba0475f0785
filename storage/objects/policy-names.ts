/** How paths of the array's interface name a policy: by a number that stays, whatever people call the policy. */
export function policyIdOf(index: number): string {
  return `policy-${(index + 1).toString(16).padStart(8, '0')}`;
}

/** By the name people gave it, in whatever case, or by its id. */
export function findPolicyNamed<P extends { readonly index: number; readonly name: string }>(
  policies: readonly P[],
  name: string,
): P | undefined {
  const wanted = name.toLowerCase();
  return (
    policies.find((one) => one.name.toLowerCase() === wanted) ??
    policies.find((one) => policyIdOf(one.index) === wanted)
  );
}
