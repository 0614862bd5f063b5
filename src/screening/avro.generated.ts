/**
 * The schemas of `avro/` as types and as values. Printed by `npm run schemas:types`: change the schemas instead.
 * Unions are plain values (no wrapping), enums are unions of strings, times are numbers of the schema's unit since 1970,
 * longs are whole numbers from -(2^53 - 2) to 2^53 - 2.
 */

/** One item of the basket. */
export interface PaymentItem {
  /** Number of the item in the shop's catalogue. */
  readonly item_id: number | null;
  /** Identifier of the item that is unique across catalogues. */
  readonly unique_item_id: string | null;
  /** What the item is, in words. */
  readonly item_desc: string | null;
  /** More about the item. */
  readonly additional_description: string | null;
  /** Price of one item, in major units of trans_currency: a number, or the decimal as a string. */
  readonly item_amt: number | string | null;
  /** Discount on the item: a number, or the decimal as a string. */
  readonly discount: number | string | null;
  /** Tax rate of the item: a number, or the decimal as a string. */
  readonly tax_rate: number | string | null;
  /** How many of the item were bought. */
  readonly quantity: number | null;
}

/** A payment to be scored: the datapoints of the screening service by name. null: not given. */
export interface PaymentCreated {
  /** The client's transaction identifier. Status updates must carry the same value, character for character. */
  readonly trans_id: string;
  /** Identifier of the platform the payment was made on. */
  readonly platform_id: string | null;
  /** The client's order number. */
  readonly order_id: string | null;
  /** The basket, one entry an item. */
  readonly items: readonly PaymentItem[] | null;
  /** Amount of the transaction in major units of trans_currency (12.34, not 1234): a number, or the decimal as a string. */
  readonly trans_amt: number | string | null;
  /** Currency code of the amount, for example EUR. */
  readonly trans_currency: string | null;
  /** When the transaction was made: RFC 3339 with a zone, Z or an offset such as +02:00. */
  readonly trans_ts: string | null;
  /** Payment method, for example a card payment. */
  readonly pmt_method: string | null;
  /** Hash of the card number. Never the number itself. */
  readonly cc_num_hash: string | null;
  /** First digits of the card number that name the issuer. */
  readonly cc_bin: string | null;
  /** Last four digits of the card number. */
  readonly cc_last_4_dig: string | null;
  /** Card brand that belongs to the first digits. */
  readonly bin_brand: string | null;
  /** Expiry of the card: digits of month and year. */
  readonly cc_exp_dt: string | null;
  /** City of the billing address. */
  readonly bill_ad_city: string | null;
  /** Street and house number of the billing address. */
  readonly bill_ad_line1: string | null;
  /** Postal code of the billing address. */
  readonly bill_ad_zip: string | null;
  /** Country of the billing address: ISO 3166-1 alpha-2. */
  readonly bill_ad_ctry: string | null;
  /** E-mail address of the customer. */
  readonly cust_email: string | null;
  /** Family name of the customer. */
  readonly cust_last_name: string | null;
  /** Given name of the customer. */
  readonly cust_first_name: string | null;
  /** Title or form of address of the customer. */
  readonly cust_name_title: string | null;
  /** The client's identifier of the customer. */
  readonly cust_id: string | null;
  /** Family name of the addressee of the shipment. */
  readonly ship_ad_last_name: string | null;
  /** Given name of the addressee of the shipment. */
  readonly ship_ad_first_name: string | null;
  /** Title or form of address of the addressee of the shipment. */
  readonly ship_name_title: string | null;
  /** City of the shipping address. */
  readonly ship_ad_city: string | null;
  /** Street and house number of the shipping address. */
  readonly ship_ad_line1: string | null;
  /** Postal code of the shipping address. */
  readonly ship_ad_zip: string | null;
  /** Country of the shipping address: ISO 3166-1 alpha-2. */
  readonly ship_ad_ctry: string | null;
  /** Country of the customer's account address: ISO 3166-1 alpha-2. */
  readonly acct_ad_ctry: string | null;
  /** IP address of the customer, version 4 or 6, without port or other characters. */
  readonly ip: string | null;
  /** Identifier of the customer's device. The service determines frg_device_id by it. */
  readonly device_id_mapped: string | null;
  /** Seller on whose behalf the payment was taken. */
  readonly sub_seller: string | null;
  /** Currency of the seller. */
  readonly slr_crncy: string | null;
  /** Country of the seller: ISO 3166-1 alpha-2. */
  readonly slr_ctry: string | null;
}

/** `avro/PaymentCreated.avsc`. */
export const PAYMENT_CREATED_SCHEMA: object = JSON.parse(
  '{"type":"record","name":"PaymentCreated","namespace":"fraud.screening.v1","doc":"A payment to be scored: the datapoints of the screening service by name. null: not given.","fields":[{"name":"trans_id","type":"string","doc":"The client\'s transaction identifier. Status updates must carry the same value, character for character."},{"name":"platform_id","type":["null","string"],"default":null,"doc":"Identifier of the platform the payment was made on."},{"name":"order_id","type":["null","string"],"default":null,"doc":"The client\'s order number."},{"name":"items","type":["null",{"type":"array","items":{"type":"record","name":"PaymentItem","doc":"One item of the basket.","fields":[{"name":"item_id","type":["null","double"],"default":null,"doc":"Number of the item in the shop\'s catalogue."},{"name":"unique_item_id","type":["null","string"],"default":null,"doc":"Identifier of the item that is unique across catalogues."},{"name":"item_desc","type":["null","string"],"default":null,"doc":"What the item is, in words."},{"name":"additional_description","type":["null","string"],"default":null,"doc":"More about the item."},{"name":"item_amt","type":["null","double","string"],"default":null,"doc":"Price of one item, in major units of trans_currency: a number, or the decimal as a string."},{"name":"discount","type":["null","double","string"],"default":null,"doc":"Discount on the item: a number, or the decimal as a string."},{"name":"tax_rate","type":["null","double","string"],"default":null,"doc":"Tax rate of the item: a number, or the decimal as a string."},{"name":"quantity","type":["null","double"],"default":null,"doc":"How many of the item were bought."}]}}],"default":null,"doc":"The basket, one entry an item."},{"name":"trans_amt","type":["null","double","string"],"default":null,"doc":"Amount of the transaction in major units of trans_currency (12.34, not 1234): a number, or the decimal as a string."},{"name":"trans_currency","type":["null","string"],"default":null,"doc":"Currency code of the amount, for example EUR."},{"name":"trans_ts","type":["null","string"],"default":null,"doc":"When the transaction was made: RFC 3339 with a zone, Z or an offset such as +02:00."},{"name":"pmt_method","type":["null","string"],"default":null,"doc":"Payment method, for example a card payment."},{"name":"cc_num_hash","type":["null","string"],"default":null,"doc":"Hash of the card number. Never the number itself."},{"name":"cc_bin","type":["null","string"],"default":null,"doc":"First digits of the card number that name the issuer."},{"name":"cc_last_4_dig","type":["null","string"],"default":null,"doc":"Last four digits of the card number."},{"name":"bin_brand","type":["null","string"],"default":null,"doc":"Card brand that belongs to the first digits."},{"name":"cc_exp_dt","type":["null","string"],"default":null,"doc":"Expiry of the card: digits of month and year."},{"name":"bill_ad_city","type":["null","string"],"default":null,"doc":"City of the billing address."},{"name":"bill_ad_line1","type":["null","string"],"default":null,"doc":"Street and house number of the billing address."},{"name":"bill_ad_zip","type":["null","string"],"default":null,"doc":"Postal code of the billing address."},{"name":"bill_ad_ctry","type":["null","string"],"default":null,"doc":"Country of the billing address: ISO 3166-1 alpha-2."},{"name":"cust_email","type":["null","string"],"default":null,"doc":"E-mail address of the customer."},{"name":"cust_last_name","type":["null","string"],"default":null,"doc":"Family name of the customer."},{"name":"cust_first_name","type":["null","string"],"default":null,"doc":"Given name of the customer."},{"name":"cust_name_title","type":["null","string"],"default":null,"doc":"Title or form of address of the customer."},{"name":"cust_id","type":["null","string"],"default":null,"doc":"The client\'s identifier of the customer."},{"name":"ship_ad_last_name","type":["null","string"],"default":null,"doc":"Family name of the addressee of the shipment."},{"name":"ship_ad_first_name","type":["null","string"],"default":null,"doc":"Given name of the addressee of the shipment."},{"name":"ship_name_title","type":["null","string"],"default":null,"doc":"Title or form of address of the addressee of the shipment."},{"name":"ship_ad_city","type":["null","string"],"default":null,"doc":"City of the shipping address."},{"name":"ship_ad_line1","type":["null","string"],"default":null,"doc":"Street and house number of the shipping address."},{"name":"ship_ad_zip","type":["null","string"],"default":null,"doc":"Postal code of the shipping address."},{"name":"ship_ad_ctry","type":["null","string"],"default":null,"doc":"Country of the shipping address: ISO 3166-1 alpha-2."},{"name":"acct_ad_ctry","type":["null","string"],"default":null,"doc":"Country of the customer\'s account address: ISO 3166-1 alpha-2."},{"name":"ip","type":["null","string"],"default":null,"doc":"IP address of the customer, version 4 or 6, without port or other characters."},{"name":"device_id_mapped","type":["null","string"],"default":null,"doc":"Identifier of the customer\'s device. The service determines frg_device_id by it."},{"name":"sub_seller","type":["null","string"],"default":null,"doc":"Seller on whose behalf the payment was taken."},{"name":"slr_crncy","type":["null","string"],"default":null,"doc":"Currency of the seller."},{"name":"slr_ctry","type":["null","string"],"default":null,"doc":"Country of the seller: ISO 3166-1 alpha-2."}]}',
) as object;

/** What became of a payment at its authorization: one status update for the screening service. */
export interface PaymentAuthorized {
  /** The transaction identifier that was sent with the payment, character for character. */
  readonly trans_id: string;
  /** One of approved, approved_recurring, declined, declined_fraudscreening, error, frg_declined, payment_pending. Required; a record without it becomes a dead letter. */
  readonly status: string | null;
  /** When the status came to be: RFC 3339 with a zone. Sent to the second, in UTC. Required; a record without it becomes a dead letter. */
  readonly ts: string | null;
  /** Acquirer reference. Needed for approved card payments under chargeback protection. */
  readonly acq_ref_id: string | null;
  /** Reason code of the issuer, from the list agreed with the service. Sent with declined and approved. */
  readonly issuer_reason_code: string | null;
  /** The issuer's reason in words. Sent with declined, where no reason code is. */
  readonly issuer_decline_reason: string | null;
  /** One of fully_authenticated, partially_authenticated, not_authenticated, failed_authentication, unable. */
  readonly authentication_status: string | null;
  /** Exemption raised on the service's advice, or several: out_of_scope, low_value, low_risk, recurring_transaction. */
  readonly exemption_type_raised: string | readonly string[] | null;
  /** HTTP status of the scoring answer, where the sender of this record scored the payment itself. */
  readonly http_status_code: number | null;
  /** Whole milliseconds between scoring request and answer, where the sender of this record scored the payment itself. */
  readonly latency: number | null;
  /** Payment method. Decides which rules hold; never sent to the service. */
  readonly pmt_method: string | null;
}

/** `avro/PaymentAuthorized.avsc`. */
export const PAYMENT_AUTHORIZED_SCHEMA: object = JSON.parse(
  '{"type":"record","name":"PaymentAuthorized","namespace":"fraud.screening.v1","doc":"What became of a payment at its authorization: one status update for the screening service.","fields":[{"name":"trans_id","type":"string","doc":"The transaction identifier that was sent with the payment, character for character."},{"name":"status","type":["null","string"],"default":null,"doc":"One of approved, approved_recurring, declined, declined_fraudscreening, error, frg_declined, payment_pending. Required; a record without it becomes a dead letter."},{"name":"ts","type":["null","string"],"default":null,"doc":"When the status came to be: RFC 3339 with a zone. Sent to the second, in UTC. Required; a record without it becomes a dead letter."},{"name":"acq_ref_id","type":["null","string"],"default":null,"doc":"Acquirer reference. Needed for approved card payments under chargeback protection."},{"name":"issuer_reason_code","type":["null","string"],"default":null,"doc":"Reason code of the issuer, from the list agreed with the service. Sent with declined and approved."},{"name":"issuer_decline_reason","type":["null","string"],"default":null,"doc":"The issuer\'s reason in words. Sent with declined, where no reason code is."},{"name":"authentication_status","type":["null","string"],"default":null,"doc":"One of fully_authenticated, partially_authenticated, not_authenticated, failed_authentication, unable."},{"name":"exemption_type_raised","type":["null","string",{"type":"array","items":"string"}],"default":null,"doc":"Exemption raised on the service\'s advice, or several: out_of_scope, low_value, low_risk, recurring_transaction."},{"name":"http_status_code","type":["null","long"],"default":null,"doc":"HTTP status of the scoring answer, where the sender of this record scored the payment itself."},{"name":"latency","type":["null","long"],"default":null,"doc":"Whole milliseconds between scoring request and answer, where the sender of this record scored the payment itself."},{"name":"pmt_method","type":["null","string"],"default":null,"doc":"Payment method. Decides which rules hold; never sent to the service."}]}',
) as object;

/** A fault the service found with a datapoint. */
export interface ScoreValidationError {
  /** Name of the datapoint; null: none was given. */
  readonly datapoint: string | null;
  /** What is wrong, in words for people: not a code, and may change without notice. null: none were given. */
  readonly msg: string | null;
}

/** A piece of evidence the service found. */
export interface ScoreSignal {
  /** What the signal is about, for example seller or user; null: not given. */
  readonly category: string | null;
  /** Identifier of the signal; null: not given. */
  readonly id: string | null;
  /** Names of the datapoints it rests on; empty: none were given. */
  readonly related_to: readonly string[];
  /** Kind of signal, for example technical or bad; null: not given. */
  readonly type: string | null;
}

/** A place in a topic. */
export interface ScoreSource {
  /** Name of the topic. */
  readonly topic: string;
  /** Number of the partition. */
  readonly partition: number;
  /** Offset in the partition. */
  readonly offset: number;
}

/** What the screening service said of a payment. A repeat is possible after a crash: the last one of a trans_id counts. A record with a failure has no decision and never replaces an earlier decision. */
export interface FraudScore {
  /** Name of the service account that scored, as the connector is configured. */
  readonly account: string;
  /** The client's transaction identifier. Also the key of the record. */
  readonly trans_id: string;
  /** Transaction identifier made by the service; null: it gave none. A whole number is written as its digits. */
  readonly frg_trans_id: string | null;
  /** What the service decided. unknown is never an approval. */
  readonly decision: 'unknown' | 'decline' | 'approve' | 'manual_review' | 'custom';
  /** The decision's number as received: 0 decline, 1 approve, 2 manual review, 3 custom action; null: none was given, or none that is a whole number. */
  readonly decision_code: number | null;
  /** Risk from 0 to 1; lower is less likely to be fraud. null: none was given, or none from 0 to 1. */
  readonly score: number | null;
  /** Whether the provider takes the liability; null: the service did not say. */
  readonly is_liable: boolean | null;
  /** Why there is no liability: declined, high_amount, not_ffp, unknown_amount, approve_list, or a later value; null: the service gave no reason. */
  readonly liability_reason: string | null;
  /** Whether the service found no fault with the datapoints; null: it did not say. */
  readonly validation_ok: boolean | null;
  /** Faults the service found with the datapoints; null: it named none. */
  readonly validation_errors: readonly ScoreValidationError[] | null;
  /** Evidence of the service; null: it gave none. */
  readonly signals: readonly ScoreSignal[] | null;
  /** Device identifier determined by the service by device_id_mapped; null: it gave none. */
  readonly frg_device_id: string | null;
  /** HTTP status of the last attempt; null: none was answered. */
  readonly http_status_code: number | null;
  /** Whole milliseconds between request and answer of the last attempt; null: none was answered. */
  readonly latency_ms: number | null;
  /** How many requests were made for this payment, the last one included. */
  readonly attempts: number;
  /** Whether an earlier attempt ended without an answer, so that the service may have scored the payment before. */
  readonly possibly_scored_before: boolean;
  /** Why there is no decision; null: the payment was scored. status_<code>, error_msg, unusable_answer, timed_out, connection_failed: the service failed for this payment for good, with this HTTP status or so. ambiguous_then_refused: the repeat of an attempt that may have been carried out was refused. already_scored: the service knows the payment, and its decision was lost. A record with a failure never replaces an earlier decision. */
  readonly failure: string | null;
  /** When the answer came. */
  readonly scored_at: number;
  /** Where the payment was read. */
  readonly source: ScoreSource;
  /** JSON object of what the answer had and this schema has not, for example rule hits, and of each field with a value of another type than here: as it came, numbers digit by digit. A field that is null above and not here was absent, null or an empty text. */
  readonly extra: string;
}

/** `avro/FraudScore.avsc`. */
export const FRAUD_SCORE_SCHEMA: object = JSON.parse(
  '{"type":"record","name":"FraudScore","namespace":"fraud.screening.v1","doc":"What the screening service said of a payment. A repeat is possible after a crash: the last one of a trans_id counts. A record with a failure has no decision and never replaces an earlier decision.","fields":[{"name":"account","type":"string","doc":"Name of the service account that scored, as the connector is configured."},{"name":"trans_id","type":"string","doc":"The client\'s transaction identifier. Also the key of the record."},{"name":"frg_trans_id","type":["null","string"],"default":null,"doc":"Transaction identifier made by the service; null: it gave none. A whole number is written as its digits."},{"name":"decision","type":{"type":"enum","name":"ScoreDecision","doc":"Decisions of the service. unknown: none was given, or one that this schema has not.","symbols":["unknown","decline","approve","manual_review","custom"],"default":"unknown"},"doc":"What the service decided. unknown is never an approval."},{"name":"decision_code","type":["null","long"],"default":null,"doc":"The decision\'s number as received: 0 decline, 1 approve, 2 manual review, 3 custom action; null: none was given, or none that is a whole number."},{"name":"score","type":["null","double"],"default":null,"doc":"Risk from 0 to 1; lower is less likely to be fraud. null: none was given, or none from 0 to 1."},{"name":"is_liable","type":["null","boolean"],"default":null,"doc":"Whether the provider takes the liability; null: the service did not say."},{"name":"liability_reason","type":["null","string"],"default":null,"doc":"Why there is no liability: declined, high_amount, not_ffp, unknown_amount, approve_list, or a later value; null: the service gave no reason."},{"name":"validation_ok","type":["null","boolean"],"default":null,"doc":"Whether the service found no fault with the datapoints; null: it did not say."},{"name":"validation_errors","type":["null",{"type":"array","items":{"type":"record","name":"ScoreValidationError","doc":"A fault the service found with a datapoint.","fields":[{"name":"datapoint","type":["null","string"],"default":null,"doc":"Name of the datapoint; null: none was given."},{"name":"msg","type":["null","string"],"default":null,"doc":"What is wrong, in words for people: not a code, and may change without notice. null: none were given."}]}}],"default":null,"doc":"Faults the service found with the datapoints; null: it named none."},{"name":"signals","type":["null",{"type":"array","items":{"type":"record","name":"ScoreSignal","doc":"A piece of evidence the service found.","fields":[{"name":"category","type":["null","string"],"default":null,"doc":"What the signal is about, for example seller or user; null: not given."},{"name":"id","type":["null","string"],"default":null,"doc":"Identifier of the signal; null: not given."},{"name":"related_to","type":{"type":"array","items":"string"},"default":[],"doc":"Names of the datapoints it rests on; empty: none were given."},{"name":"type","type":["null","string"],"default":null,"doc":"Kind of signal, for example technical or bad; null: not given."}]}}],"default":null,"doc":"Evidence of the service; null: it gave none."},{"name":"frg_device_id","type":["null","string"],"default":null,"doc":"Device identifier determined by the service by device_id_mapped; null: it gave none."},{"name":"http_status_code","type":["null","int"],"default":null,"doc":"HTTP status of the last attempt; null: none was answered."},{"name":"latency_ms","type":["null","long"],"default":null,"doc":"Whole milliseconds between request and answer of the last attempt; null: none was answered."},{"name":"attempts","type":"int","doc":"How many requests were made for this payment, the last one included."},{"name":"possibly_scored_before","type":"boolean","doc":"Whether an earlier attempt ended without an answer, so that the service may have scored the payment before."},{"name":"failure","type":["null","string"],"default":null,"doc":"Why there is no decision; null: the payment was scored. status_<code>, error_msg, unusable_answer, timed_out, connection_failed: the service failed for this payment for good, with this HTTP status or so. ambiguous_then_refused: the repeat of an attempt that may have been carried out was refused. already_scored: the service knows the payment, and its decision was lost. A record with a failure never replaces an earlier decision."},{"name":"scored_at","type":{"type":"long","logicalType":"timestamp-millis"},"doc":"When the answer came."},{"name":"source","type":{"type":"record","name":"ScoreSource","doc":"A place in a topic.","fields":[{"name":"topic","type":"string","doc":"Name of the topic."},{"name":"partition","type":"int","doc":"Number of the partition."},{"name":"offset","type":"long","doc":"Offset in the partition."}]},"doc":"Where the payment was read."},{"name":"extra","type":"string","default":"{ }","doc":"JSON object of what the answer had and this schema has not, for example rule hits, and of each field with a value of another type than here: as it came, numbers digit by digit. A field that is null above and not here was absent, null or an empty text."}]}',
) as object;

/** A decision that a person made about a transaction, as the screening service announced it. The same event may occur more than once: tell them apart by event_id, order them by reviewed_at. */
export interface FraudReview {
  /** Lower-case hexadecimal SHA-256 over type, frg_trans_id, trans_id, decision and reviewed_at: the same event has the same value however often it is delivered. */
  readonly event_id: string;
  /** Name of the service account the event belongs to, as the connector is configured. */
  readonly account: string;
  /** Type of the event: txn_manual_review. */
  readonly type: string;
  /** Transaction identifier made by the service. */
  readonly frg_trans_id: string;
  /** The client's transaction identifier. Also the key of the record. */
  readonly trans_id: string;
  /** What the reviewer decided. unknown is never an approval. */
  readonly decision: 'unknown' | 'good' | 'probably_good' | 'suspicious' | 'bad';
  /** When the decision was made, as the service says. */
  readonly reviewed_at: number;
  /** When the connector received the event. */
  readonly received_at: number;
  /** JSON object of the fields of the event that this schema has not. Those beside data are under $body. */
  readonly extra: string;
}

/** `avro/FraudReview.avsc`. */
export const FRAUD_REVIEW_SCHEMA: object = JSON.parse(
  '{"type":"record","name":"FraudReview","namespace":"fraud.screening.v1","doc":"A decision that a person made about a transaction, as the screening service announced it. The same event may occur more than once: tell them apart by event_id, order them by reviewed_at.","fields":[{"name":"event_id","type":"string","doc":"Lower-case hexadecimal SHA-256 over type, frg_trans_id, trans_id, decision and reviewed_at: the same event has the same value however often it is delivered."},{"name":"account","type":"string","doc":"Name of the service account the event belongs to, as the connector is configured."},{"name":"type","type":"string","doc":"Type of the event: txn_manual_review."},{"name":"frg_trans_id","type":"string","doc":"Transaction identifier made by the service."},{"name":"trans_id","type":"string","doc":"The client\'s transaction identifier. Also the key of the record."},{"name":"decision","type":{"type":"enum","name":"ReviewDecision","doc":"Decisions of a manual review. unknown is never written: it is what an older reader sees of a decision added later.","symbols":["unknown","good","probably_good","suspicious","bad"],"default":"unknown"},"doc":"What the reviewer decided. unknown is never an approval."},{"name":"reviewed_at","type":{"type":"long","logicalType":"timestamp-micros"},"doc":"When the decision was made, as the service says."},{"name":"received_at","type":{"type":"long","logicalType":"timestamp-millis"},"doc":"When the connector received the event."},{"name":"extra","type":"string","default":"{ }","doc":"JSON object of the fields of the event that this schema has not. Those beside data are under $body."}]}',
) as object;
