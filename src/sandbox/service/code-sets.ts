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

/** Euros for one unit of a currency, fixed for ever: made-up rates, so that a rule on the amount never moves. */
export const EURO_RATES: ReadonlyMap<string, number> = new Map(
  Object.entries({
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
);
