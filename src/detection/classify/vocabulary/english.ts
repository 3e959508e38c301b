/** Words of English, and the abbreviations that databases use for them. */

import type { LanguageWords } from './language-words.ts'

export const english: LanguageWords = {
  roles: `carrier operator issuer policyholder planholder user usr usrs customer cust cstmr cstm client clnt clt contact cntct cont member mbr mem employee emp empl employer staff worker associate
    owner ownr vendor vend vndr supplier suppl splr seller buyer merchant mrch merch shop store dealer reseller distributor partner ptnr
    patient pat pt student stud pupil guest gst visitor driver agent agt manager mgr admin administrator applicant appl applic candidate cand
    tenant landlord lessee lessor borrower brwr coborrower cosigner debtor dbtr creditor cdtr beneficiary bene benef
    payer payor payee sender recipient rcpnt rcp receiver shipper consignee consignor requester requestor submitter assignee reporter author
    committer creator editor approver reviewer organizer organiser attendee invitee host respondent participant volunteer donor
    sponsor originator orig dest src dst from to subscriber subscr sub prospect lead insured claimant policyholder
    insurer broker adjuster physician phys doctor provider prov nurse caregiver teacher instructor professor parent guardian
    guarantor guar spouse spse child dependent dependant dep father mother sibling relative nextofkin nok kin legal rep
    representative director dir officer signatory trustee executor heir attorney atty lawyer counsel notary witness
    shopper player passenger pax traveler traveller flyer booker renter pilot holder cardholder accountholder registrant
    registrar technical tech abuse investor shareholder person individual indiv people party caller callee
    home hm work wrk office off ofc business bus biz company co comp corporate corp firm private priv personal pers primary prim secondary sec
    tertiary alternate alternative alternat alt main other oth backup bkup emergency emerg emrg emer billing bill billto shipping ship shipto soldto sold
    remit remitto payto delivery deliv delvr mailing mobile cell landline day daytime night evening eve noc current cur curr old
    new prev previous prior default dflt def preferred prefrd household hh residence resid res local foreign
    direct public internal external support help sales service svc helpdesk hr payroll account acct branch department dept
    site hotel school clinic hospital bank agency airline restaurant warehouse registered profile lookup trusted recovery
    login reply joint us usa uk eu intl international national domestic regional`,
  numbers: 'number numb numbr nbr nmbr nmb num nums no nos nr nro',
  neutral: `element elements item items list lst entry array arr set key value val values address addr adr addrs add raw clean cleaned
    cleansed normalized normalised norm standardized standardised std formatted fmt display plain full fll whole complete text txt tx str strg string
    s sz vc vch vchar varchar nvc nvarchar chr char fld field col column cl attr attribute attrib prop property param arg p v u z zz yy in out
    data dat info information detail details dtl dtls primary secondary main the of and or x f c t k kw cf ud udf custom     tbl dim fact stg ods hist record rec row obj object json mapped input entered provided given submitted captured
    latest last current most recent best known effective final master golden merged matched resolved derived original`,
  otherContent: `hash hashed hashes hashing hsh sha sha1 sha2 sha3 sha224 sha256 sha384 sha512 md4 md5 ripemd ripemd160 hmac blake blake2 blake2b blake3
    crc crc32 crc64 adler32 fnv fnv1a murmur murmur3 xxhash xxh3 xxh64 xxh128 siphash farmhash cityhash metrohash highwayhash bcrypt scrypt
    argon2 pbkdf2 checksum salted digest token tokens tokenized tokenised masked mask redacted
    encrypted enc encr cipher ciphertext anonymized anonymised pseudonym fingerprint surrogate
    domain template subject body campaign newsletter verified verify verification valid validated validation
    validity invalid confirmed confirmation optin optout opt consent permission subscribed unsubscribed subscription
    flag flg ind indicator is has count cnt counts total sum avg qty quantity rate ratio pct percent score rank sent
    opened opens clicked clicks bounced bounces delivered date at time timestamp ts datetime day month year hour
    type typ kind category brand status preference preferences pref enabled disabled
    model os version browser plan price cost amount amt fee revenue balance limit
    expiry expiration expires exp cvv cvc length len format error message msg reason method 
    extension ext prefix suffix source channel language lang locale timezone duration minutes seconds calls
    attempts attempt retries visits sessions users traffic impressions conversion stored
    zip postcode postal street port folder queue class thread`,
}
