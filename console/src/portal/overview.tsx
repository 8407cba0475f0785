import { PageHead } from '../parts/messages.tsx';

export default function Overview() {
  return <PageHead title="Overview" />;
}
