import { fetchLocalJson } from '../../edges/system/local-http.ts';

/** Records that the connector has not committed yet, over all its partitions; null: it does not answer, or owns none. */
export async function fetchLag(opsUrl: string): Promise<number | null> {
  const status = await fetchLocalJson(`${opsUrl}/status`);
  if (typeof status !== 'object' || status === null || !('partitions' in status)) return null;
  const partitions = status.partitions as readonly { readonly lag: string }[];
  if (partitions.length === 0) return null;
  return partitions.reduce((sum, { lag }) => sum + Number(lag), 0);
}
