const setOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u));

/** ISO 3166-1 alpha-2, the officially assigned codes. */
export const COUNTRIES: ReadonlySet<string> = setOf(`
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
  GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
  KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
  MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
  SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
  UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`);

/** Of the other currencies the order of magnitude: enough to tell a small amount from a large one. */
const RATES_BY_SIZE: readonly (readonly [number, string])[] = [
  [0.000_01, 'IRR LBP'],
  [0.0001, 'BIF COP GNF IDR KHR LAK MGA MNT PYG SLL SYP UGX UZS VND'],
  [0.001, `AMD AOA ARS CDF CLP CRC IQD KMF KPW KRW KZT LKR MMK MWK NGN PKR RWF SDG SOS SSP TZS XAF XOF YER`],
  [
    0.01,
    `AFN ALL BDT BTN CVE DJF DOP DZD ETB GMD GYD HTG ISK JMD KES KGS LRD MKD MRU MUR MZN NIO NPR PHP RSD RUB SRD
     TWD THB UAH UYU UYW VED VES VUV XPF ZWG ZWL`,
  ],
  [
    0.1,
    `BOB BOV BWP COU CUC CUP EGP ERN GHS GTQ HNL HRK LSL MAD MDL MOP MVR MXV MYR NAD PEN PGK QAR SAR SBD SCR SLE
     STN SZL TJS TMT TOP TTD UYI WST ZMW`,
  ],
  [
    1,
    `ANG AWG AZN BAM BBD BHD BMD BND BSD BYN BZD CHE CHW FJD FKP GEL GIP ILS JOD KWD KYD LYD OMR PAB SHP SVC TND
     USN XCD XCG`,
  ],
  [10, 'CLF'],
];

/** Euros for one unit of a currency, fixed for ever: made-up rates, so that a rule on the amount never moves. */
export const EURO_RATES: ReadonlyMap<string, number> = new Map([
  ...RATES_BY_SIZE.flatMap(([rate, codes]) => [...setOf(codes)].map((code) => [code, rate] as const)),
  ...Object.entries({
    EUR: 1,
    USD: 0.9,
    GBP: 1.15,
    CHF: 1.05,
    SEK: 0.09,
    NOK: 0.085,
    DKK: 0.134,
    PLN: 0.23,
    CZK: 0.04,
    HUF: 0.0025,
    RON: 0.2,
    BGN: 0.51,
    TRY: 0.03,
    CAD: 0.66,
    AUD: 0.6,
    NZD: 0.55,
    JPY: 0.006,
    CNY: 0.125,
    INR: 0.011,
    BRL: 0.17,
    MXN: 0.05,
    ZAR: 0.05,
    SGD: 0.67,
    HKD: 0.115,
    AED: 0.245,
  }),
]);

/** ISO 4217: the currencies, those included that were withdrawn in 2023 to 2025, and the units that are no money of a country. */
export const CURRENCIES: ReadonlySet<string> = new Set([
  ...EURO_RATES.keys(),
  ...setOf('XAD XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'),
]);
