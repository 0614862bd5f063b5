/** How a datapoint is checked. `decimal`: a number, or a decimal in a string (the spec shows both for amounts). */
export const DATAPOINT_KINDS = [
  'string',
  'number',
  'decimal',
  'country',
  'currency',
  'timestamp',
  'date',
  'expiry',
  'ip',
  'items',
] as const;

export type DatapointKind = (typeof DATAPOINT_KINDS)[number];

/** A datapoint beyond those of the spec: its kind, or the closed set of its values. */
export type MoreDatapoint = DatapointKind | readonly string[];

const kinds = (kind: DatapointKind, names: string): (readonly [string, DatapointKind])[] =>
  names
    .trim()
    .split(/\s+/u)
    .map((name) => [name, kind] as const);

/** The datapoints of a transaction (spec: Transaction request, and the names its other sections mention). */
export const DATAPOINTS: ReadonlyMap<string, DatapointKind> = new Map([
  ...kinds(
    'string',
    `platform_id trans_id order_id pmt_method cc_num_hash cc_bin cc_last_4_dig bin_brand
     bill_ad_city bill_ad_line1 bill_ad_zip cust_email cust_last_name cust_first_name cust_name_title cust_id
     ship_ad_last_name ship_ad_first_name ship_name_title ship_ad_city ship_ad_line1 ship_ad_zip
     sub_seller device_id_mapped`,
  ),
  ...kinds('decimal', 'trans_amt'),
  ...kinds('currency', 'trans_currency slr_crncy'),
  ...kinds('timestamp', 'trans_ts'),
  ...kinds('country', 'bill_ad_ctry ship_ad_ctry acct_ad_ctry slr_ctry'),
  ...kinds('expiry', 'cc_exp_dt'),
  ...kinds('ip', 'ip'),
  ...kinds('items', 'items'),
]);

/** The fields of one object inside `items` (spec: Item object). */
export const ITEM_FIELDS: ReadonlyMap<string, DatapointKind> = new Map([
  ...kinds('number', 'item_id item_amt discount tax_rate quantity'),
  ...kinds('string', 'unique_item_id item_desc additional_description'),
]);
