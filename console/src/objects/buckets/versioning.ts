/** What is left of objects that are deleted. */
export function whatStays(versioning: string | undefined): string {
  switch (versioning) {
    case 'Enabled':
      return 'The bucket keeps versions: what is deleted can be restored, on the list of versions.';
    case 'Suspended':
      return 'The bucket does not keep versions at present: what was written since then is gone for good, older versions stay.';
    case '':
      return 'The bucket keeps no versions: what is deleted is gone for good.';
    default:
      return 'Where the bucket keeps versions, they stay and can be restored; without, the objects are gone for good.';
  }
}
