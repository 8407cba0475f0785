import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { FillsUpFirst } from '../../parts/fills-up.tsx';
import { Empty, Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { PageLink, Section } from '../../parts/page-link.tsx';

const EVERY_MS = 60_000;
const FIRST = 5;

/** All pools and volumes by when they will be full. */
export default function FillsUp() {
  return (
    <>
      <PageHead
        title="What fills up first"
        about="From how the use of each pool and volume changed in the last month. The range holds four times of five."
      />
      <Ranking limit={0} />
    </>
  );
}

/** The first few, for the overview. */
export function FillsUpSection() {
  return (
    <Section title="What fills up first" tools={<PageLink to="/fills-up">All pools and volumes</PageLink>}>
      <Ranking limit={FIRST} />
    </Section>
  );
}

function Ranking({ limit }: { readonly limit: number }) {
  const ranking = useRead(array.forecasts.list, { limit }, { everyMs: EVERY_MS });
  if (ranking.isError) return <Failed error={ranking.error} retry={() => void ranking.refetch()} />;
  if (!ranking.data) return <Loading />;
  return (
    <FillsUpFirst
      forecasts={ranking.data.forecasts}
      isShort={limit > 0}
      link={({ kind, id, name }) => <PageLink to={`/${kind}s/${id}`}>{name}</PageLink>}
      empty={<Empty title="There is nothing yet that could fill up.">Make a pool, and volumes in it.</Empty>}
    />
  );
}
