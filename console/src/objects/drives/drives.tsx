import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { PageHead } from '../../parts/messages.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Reading } from '../../parts/reading.tsx';
import { DriveTable } from './table.tsx';

export default function Drives() {
  const reading = useRead(objects.drives.list, {});
  return (
    <>
      <PageHead
        title="Drives"
        about={
          <>
            Where objects are kept. Drives are added to and taken from{' '}
            <PageLink to="/policies">storage policies</PageLink>: a failed one is replaced by adding a new one and
            removing the old.
          </>
        }
      />
      <Reading of={reading}>{({ disks }) => <DriveTable drives={disks} />}</Reading>
    </>
  );
}
