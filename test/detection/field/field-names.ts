// The tables: which columns stand in which system, under which names.
//
//   # domain table regions style      style `any`: the seed spells snake_case names in one of seven ways;
//                                     `lit`: names stay as they are written (foreign, abbreviated, SAP)
//   name|other name: kind             the seed picks one name; a kind is a maker or pattern of field-data.ts
//   ~name: kind                       the name (or JSON path) does not say what the cells hold
//   name: kind !class                 named for the class, its values are not there
//   name: {path=kind; path=kind}      a JSON object in the cell; [{…}] an array of objects, [kind] of texts

export const TABLES = `
# payroll employees US any
employee_id|emp_no: empno
ssn|social_security_number|emp_ssn|soc_sec_no: ssn
work_email|email_address|email: staff
personal_email|private_email: email
home_phone|phone_home: phone
mobile_phone|cell_phone|cell: mobile
emergency_contact.phone|emergency_contact.phone_number: phone
hire_date: date
cost_center: costcenter
annual_salary: amount
direct_deposit.routing_number: aba
direct_deposit.account_number: usaccount

# payroll w2_box_values US any
w2_id: int
employee_ssn|recipient_ssn|box_a_ssn: ssn
employer_ein|ein: ein
employer_name: company
box_1_wages: amount
control_number: control
state_id_number: stateid
tax_year: year

# payroll dependents US any
dependent_id: uuid
dependent_ssn|dep_ssn|child_ssn: ssn
relationship: relation
birth_date: date
ssn_last4|ssn_last_four: last4
ssn_verified: flag

# tax return_1040 US lit
TXPYR_SSN|PRIM_SSN|PrimarySSN: ssn
SPOUSE_SSN|SPS_SSN|SpouseSSN: ssn
PREPARER_PTIN: ptin
EFIN: efin
DLN: dln
ITIN: itin
DAYTIME_PHONE|TAXPAYER_PHONE_NUM: phone
FILING_STATUS: filing
REFUND_RTN: aba
AGI_AMT: amount

# tax form_1099_payees US any
~payee_tin|recipient_tin: dashedssn
payer_ein|payer_fein: ein
payee_name: person
gross_proceeds: amount
state_code: usstate
zip_plus_four: zip4
e_delivery_consent: flag

# background_checks screening_orders US any
order_reference|order_no: orderno
subject.ssn|applicant.social_security_number|candidate.ssn: ssn
subject.driver_license|candidate.dl_number: dlnumber
subject.email|applicant.email|candidate.email: email
county_case_number: casenumber
turnaround_hours: smallint
payload|request_body: {report_id=uuid; subject.ssn=dashedssn; subject.dob=date; package=plancode}

# lending loan_applications US any
application_id: loanid
borrower_ssn|borr_ssn|borrower.ssn: ssn
co_borrower_ssn|coborrower_ssn|co_borrower.ssn: ssn
borrower_phone|primary_phone: phone
credit_score: score
loan_amount: amount
property_apn|parcel_number: apn
mers_min: min18
decision: decision

# lending bureau_pulls US any
pull_id: uuid
inquiry_ssn|consumer_ssn: ssn
~field_12|attr_7|udf_3: dashedssn
bureau: bureau
ssn_hash|hashed_ssn: sha256 !us_ssn
tradeline_account: tradeline
pulled_at: timestamp

# health patients US any
mrn|medical_record_number: mrn
patient_ssn|pt_ssn|patient.ssn: ssn
guarantor_ssn|guarantor.ssn: ssn
home_phone|patient_phone: phone
member_id|insurance_member_id: memberid
portal_email|patient_email: email
pcp_npi|provider_npi: npi
zip: zip
telecom: fhir

# health pharmacy_claims US any
claim_number: claimno
cardholder_id: memberid
cardholder_ssn|subscriber_ssn: ssn
ndc|ndc_code: ndc
rx_number: rxno
bin_number|rx_bin: bin
pcn: pcn
prescriber_dea: dea
pharmacy_phone|pharmacy_fax: phone
days_supply: smallint

# health nhs_referrals GB any
nhs_number: nhs
ubrn: ubrn
gp_practice_code: gpcode
patient_mobile|contact_tel|daytime_telephone: phone
postcode: postcode
referral_letter: freetext

# insurance policies US any
policy_number|policy_no: policyno
insured_ssn|policyholder_ssn|primary_insured.ssn: ssn
agent_email|producer_email: role
agent_license: license
vin: vin
premium: amount
tin_type: tintype
masked_ssn|ssn: maskedssn !us_ssn

# insurance claimants US any
claim_id: claimno
claimant_social|claimant_ssn: ssn
adjuster_phone|adjuster_tel: phone
loss_narrative|loss_description: freetext
~value_2|udf_8|custom_1: claimno
repair_estimate: amount
~details|extra|doc: {k1=dashedssn; k2=relation; k3=claimno}

# education students US any
student_id|banner_id: studentid
ssn|student_ssn|ssn_nbr: ssn
edu_email|campus_email: staff
parent_email|guardian_email: email
parent_cell|guardian_phone: phone
campus_card_number|one_card_no: campuscard
gpa: gpa
term_code: termcode
locker_combination: locker

# education fafsa_records US any
isir_id: isir
stu_ssn|applicant_ssn: ssn
parent1_ssn|father_ssn|parent_1_ssn: ssn
parent2_ssn|mother_ssn|parent_2_ssn: ssn
school_code: schoolcode
efc: amount

# benefits beneficiaries US any
case_id: casenumber
claimant.ssn|recipient_ssn|beneficiary_ssn: ssn
representative_payee_ssn|rep_payee_ssn: ssn
medicare_number|mbi: mbi
snap_ebt_account: ebtcase
contact_phone|phone_no: phone
numero_seguro_social|num_seguro_social: ssn
eligibility_flag: flag

# military personnel US any
edipi|dod_id: edipi
sponsor_ssn|svc_member_ssn|member_ssn: ssn
rank: rank
unit_uic: uic
dsn_extension: ext4
national_stock_number|nsn: nsn

# housing tenant_screening US any
lease_id: leaseid
tenant_ssn|renter_ssn|occupant.ssn: ssn
~value|data|col_4: dashedssn
unit_number: unit
tenant_contact_number|tenant_phone: phone
rent: amount
ssn_token|tokenized_ssn: token !us_ssn
parking_permit: permit

# payments card_transactions US any
txn_id|transaction_id: snowflake
pan|card_number|cardnumber|primary_account_number: card
masked_pan|card_mask: maskedcard !credit_card
auth_code: authcode
rrn|retrieval_reference_number: rrn
arn: arn
card_brand|card_type: brand
card_last4|last_four: last4
exp_month: month
mcc: mcc
amount: amount
card_hash|pan_sha256: sha256 !credit_card
card_details: {brand=brand; last4=last4; exp_month=month; bin=bin; funding=source2}

# payments tokens_vault US any
token: token
clear_pan|pan_clear|raw_pan|full_card_number: card
bin|issuer_bin: bin
par|payment_account_reference: par
network_token_ref|token_reference_id: tokenref
fingerprint: fingerprint
created_at: timestamp

# payments chargebacks GB any
case_number: caseno10
cardholder_account_number|chargeback_card_no|card_no: card
reason_code: reasoncode
merchant_id|mid: mid
terminal_id|tid: tid
~value_text|col7|f14: spacedcard
cardholder_email|customer_email: email
evidence_url: url

# hotel reservations FR|GB|US any
confirmation_number: confno
guest_email|guest.email: email
guest_phone|guest.phone: phone
guarantee_card|guarantee_cc_number|cc_guarantee_no: card
room_no: room
rate_code: ratecode
loyalty_number|rewards_no: loyalty
special_requests: freetext
guest_profile: {name=person; contact.email=email; contact.phone=clearphone; nights=smallint}

# airline bookings US|GB|DE any
pnr|record_locator: pnr
ticket_number|eticket_no: eticket
fop_card_number|form_of_payment.card_number|cc_num: card
passenger_phone|pax_mobile: phone
frequent_flyer_no|ffn: ffn
flight_no: flight
passport_no: passport
email|pax_email: email
remarks: {remarks.fop_card=card; remarks.seat=seat; pnr=pnr}

# ecommerce orders US|GB any
order_id|order_number: orderlong
tracking_number|shipment_tracking: upstrack
customer_email|buyer_email|email: email
billing_phone|billing.phone: phone
shipping_phone|ship_to.phone: phone
payment_card_number|cc_number|credit_card: card
coupon_code: coupon
ip_address|client_ip: ipv4
subtotal: amount
~updated_by|created_by|modified_by: staff

# ecommerce checkout_events US any
event_id: uuid
session_id: hex32
user_agent: useragent
event_payload|event_data: {customer.email=email; payment.card_number=card; cart.total=amount; cart.sku=sku}
experiment_bucket: bucket
occurred_at_ms: epochms
page_url: url
cart_items: [{sku=sku; ean=ean; qty=digit; price=amount}]
~attr_2|prop_b|v3: hex32
~ev_label|dim_4: bucket

# ecommerce products US|DE any
sku: sku
ean|gtin|barcode: ean
upc: upc
isbn: isbn
asin: asin
hs_code: hscode
stock_qty: smallint
supplier_part_no|mfr_part_number: ssnlikepart
list_price: amount
dimensions: dims

# ecommerce gift_cards US any
gift_card_number|gift_card_code: giftcard
pin: pin
balance: amount
recipient_email|sent_to_email: email
redeemed_order_no: orderno

# subscriptions billing_accounts US|GB any
account_uuid: uuid
billing_email|invoice_email: email
card.number|payment_method.card_number|stored_card_number: card
card.exp_year: year
card_token|pan_token: token !credit_card
stripe_customer_id: stripecus
plan_code: plancode
mrr: amount
~metadata|attributes: {a=uuid; ref=spacedcard; ts=epochms}

# donations pledges US|FR any
pledge_id: int
donor_email|donor.email: email
donor_phone|donor.phone: phone
donor_card_number|cc_acct_num|ccnum: card
iban_debit|donor_iban: iban
gift_aid_ref: giftaid
campaign_code: campaign
amount: amount

# call_center recordings_index US|AU any
call_id: uuid
caller_number|ani|from_number: phone
dialed_number|dnis|to_number: phone
~captured_digits|dtmf_field_2: spacedcard
transcript_excerpt: freetext
agent_login: login
duration_sec: smallint
queue: queue
disposition_code: dispo

# fleet fuel_purchases US any
vehicle_vin: vin
odometer: odo
fleet_credit_card_no|corporate_card_no|pcard_number: card
pump_no: pump
gallons: decimal
site_code: sitecode
driver_license_plate: plate

# gym memberships US|CA any
member_no: memberno
member_barcode: barcode14
credit_card_no|card_on_file_number|cc_no: card
phone|phone1|telephone: phone
emergency_phone|ice_phone: phone
email_opt_in: flag
locker_serial: serial
autopay_card_number: blank !credit_card

# parking sessions DE|GB any
session_ref: sessionref
license_plate: plate
payment_card|paid_with_pan|kk_nummer: card
zone: zone
entry_epoch: epoch
exit_epoch: epoch
meter_serial: serial

# gaming purchases JP|US any
player_id: snowflake
gamer_tag: handle
account_email|player_email: email
purchase_card_number|pay_card_no: card
item_code: sku
device_hash: md5
platform: platform
email_verified: flag

# telecom subscribers IN|TR|ZA|BR any
subscriber_id: int
msisdn|msisdn_nr: msisdn
imsi: imsi
imei: imei
iccid|sim_serial: iccid
contact_msisdn|alt_msisdn|alternate_number: phone
autopay_card_number|recurring_card_pan: card
country_calling_code|dial_code: dialcode
cell_id: cellid
tariff: plancode
phone_model|handset: phonemodel

# telecom cdr_voice GB|PL|MX any
call_ref: hex16
calling_party_number|calling_number|a_party_number: e164
called_party_number|called_number|b_party_number: e164
imei_tac: tac
start_time: timestamp
charge: amount
trunk_group: trunk
release_cause: cause

# telecom sms_outbox FR|ES|US any
message_id: uuid
recipient_phone|to_phone|dest_phone_number: e164
~dst|target|val: clearphone
sender_id: senderid
sms_parts: digit
status: delivery
phone_type|number_type: phonetype
payload_json: {to.phone_number=clearphone; body=template; parts=digit}

# banking accounts_de DE lit
Kontoinhaber: person
IBAN|Iban_Nr|IBAN_Konto: iban
BIC: bic
Kontonummer: kontonr
Bankleitzahl|BLZ: blz
Telefonnummer|TelNr|Telefon_privat: phone
Handynummer|Mobil|Mobiltelefon: mobile
E-Mail-Adresse|EMail|E_Mail: email
Steuer_ID: steuerid
Saldo: amount
Kreditkartennummer|KK_Nr|KreditkartenNr: card
Eroeffnungsdatum: dedate

# banking sepa_transfers DE|NL|BE|AT any
end_to_end_id: e2e
debtor_iban|dbtr_iban|debtor.iban: iban
creditor_iban|cdtr_iban|creditor.iban: iban
creditor_bic: bic
creditor_identifier|creditor_scheme_id: creditorid
mandate_reference|mandate_id: mandate
structured_reference|rf_reference: rfref
remittance_info|remittance_unstructured: remitnote
iban_masked|masked_iban: maskediban !iban
amount_eur: amount
uetr: uuid

# banking standing_orders PL|CZ|SK lit
rachunek_iban|nr_rachunku_iban|numer_rachunku_IBAN: iban
~konto_2|pole_7|k_17: iban
telefon_kontaktowy|nr_telefonu|telefon: phone
adres_email|e_mail: email
PESEL: pesel
NIP: nip
numer_karty|nr_karty_platniczej: card
kwota: amount
data_zlecenia: date

# banking mortgages_es ES lit
numero_prestamo: loanid
cuenta_iban|IBAN_cargo|iban_cuenta: iban
ccc_antiguo: ccc
dni_nie: dni
telefono_movil|movil|tfno_movil: mobile
telefono_fijo|tlf_fijo: phone
correo_electronico|correo|email_titular: email
numero_tarjeta|num_tarjeta_credito|tarjeta: card
importe: amount
~campo_3|dato_1: date
codigo_postal: postal5

# banking clients_fr FR lit
numero_client: int
iban_beneficiaire|iban_client|coordonnees_iban: iban
num_tel|telephone_portable|tel_mobile: phone
tel_domicile|telephone_fixe: phone
adresse_mail|courriel|adresse_courriel: email
numero_secu|num_securite_sociale: nir
numero_carte_bancaire|num_carte_bleue|no_carte: card
siret: siret
code_postal: postal5
montant: amount

# banking swift_messages GB|AE|SA any
uetr: uuid
sender_bic: bic
field_50k_iban|ordering_customer_iban|beneficiary_iban: iban
~tag_59|line_2|fld_59a: iban
lei: lei
sort_code: sortcode
account_number: ukaccount
settlement_meta: {bic=bic; uetr=uuid; currency=currency; lei=lei}
raw_message: {cdtrAcct.id.iban=iban; dbtrAcct.id.iban=iban; instdAmt=amount; uetr=uuid}

# banking account_meta IT|PT|GR any
iban_country|iban_country_code: country2
iban_valid|is_iban_valid: flag
iban_check_digits: twodigits
iban|account_iban: sha256 !iban
holder_uuid: uuid
currency: currency

# erp lfbk_vendor_bank DE|NL lit
LIFNR: sapno
BANKS: country2
BANKL: blz
BANKN: kontonr
IBAN|TIBAN_IBAN: iban
SWIFT: bic
ERDAT: yyyymmdd

# erp kna1_customers DE|CH|AT lit
KUNNR: sapno
TELF1: phone
TELFX: phone
TELF2: phone
SMTP_ADDR: role
STCEG: vat
STCD1: taxno
PSTLZ: postal5
LZONE: zone
ZZ_FELD1: yyyymmdd

# erp vendors_it IT lit
codice_fornitore: sapno
iban_fornitore|coordinate_iban: iban
partita_iva: piva
codice_fiscale: codfis
posta_elettronica|indirizzo_email|PEC: role
telefono|tel_ufficio|recapito_telefonico: phone
cellulare|num_cellulare: mobile
numero_carta_aziendale|num_carta_credito: card
codice_sdi: sdi
importo_fattura: amount

# erp leveranciers NL|BE lit
leveranciersnr: sapno
rekeningnr_iban|IBAN_rekening|bankrekening_iban: iban
telefoonnummer|tel_nr|telefoon_zakelijk: phone
mobiel|mobiel_nummer: mobile
e-mailadres|email_adres: role
creditcardnummer|creditcard_nr: card
kvk_nummer: kvk
btw_nummer: vat
bsn: bsn
bestelnummer: orderno
~veld_4|waarde: decimal

# erp supplier_invoices IT|FR|DE any
invoice_number|invoice_no: invoice
po_number: pono
pay_to_iban|remit_to_iban|supplier_iban: iban
supplier_vat_id|vat_number: vat
bank_details: {bank.iban=iban; bank.bic=bic; bank.name=bank}
due_date: date
gross_amount: amount
contact.mail|contact.email: role

# utilities customers_pt PT|BR lit
nif: nif
telefone|telefone_contacto|tel_contacto: phone
celular|telemovel: mobile
correio_eletronico|e_mail_cliente: email
numero_cartao|num_cartao_credito: card
iban_debito_directo|iban_debito: iban
codigo_ponto_entrega: cpe
leitura_contador: odo
valor_fatura: amount

# utilities meter_points GB|IT any
mpan: mpan
mprn: mprn
pod_code: pod
meter_serial_number: serial
direct_debit_iban|dd_iban|payer_iban: iban
reading_kwh: decimal
read_at: timestamp
contact_telephone|customer_tel_no: phone
latitude: lat
longitude: lon

# retail asiakkaat FI|SE|NO lit
asiakasnumero|kundnummer: int
puhelinnumero|telefonnummer|mobilnummer: phone
sahkoposti|epost|e-postadresse: email
tilinumero_iban|kontonummer_iban|bankkonto_iban: iban
kortnummer|kreditkortsnummer|maksukortin_numero: card
henkilotunnus_ok|samtycke: flag
postinumero|postnr: postal5
summa: amount

# retail musteri TR lit
musteri_no: int
cep_telefonu|cep_tel|cep_no: mobile
eposta|e_posta_adresi: email
iban_no|iban_numarasi: iban
kart_no|kredi_karti_no: card
tc_kimlik_no: tckn
vergi_no: taxno10
tutar: amount

# retail kokyaku_master JP lit
顧客番号: int
電話番号|携帯電話|denwa_bango: phone
メールアドレス|mail_address: email
カード番号|クレジットカード番号: card
郵便番号: jppostal
JANコード: jan
法人番号: hojin
購入金額: yen

# retail pelates GR|RS lit
kod_pelati|sifra_kupca: int
τηλέφωνο|kinito_tilefono|broj_telefona: phone
email_pelati|e_posta: email
iban_logariasmou|tekuci_racun_iban: iban
afm|pib: nip
poso|iznos: amount

# travel agency_bookings ES|GR|HR any
booking_ref: bookref
lead_traveller.email|lead_pax_email: email
lead_traveller.mobile|lead_pax_phone: worldphone
payment.cc_number|virtual_card_number|vcc_number: card
refund_iban|refund_account_iban: iban
voucher_code: voucher
insurance_policy_ref: policyno
hotel_bic: bic

# public_sector benefit_payments IE|AT|MT any
case_ref: caseref
claimant_iban|payment_iban|payee_iban: iban
pps_number|national_id: pps
~account|account_no|acct: iban
eircode|plz: eircode
claimant_mobile|claimant_phone: phone
letter_ref: letterref
iban_encrypted|enc_iban: cipher !iban

# public_sector sozialversicherung AT|CH lit
svnr|sozialversicherungsnummer: svnr
ahv_nummer|ahv_nr: ahv
us_sozialversicherungsnummer|us_ssn: ssn
telefon|tel_privat: phone
mailadresse|email_privat: email
geburtsdatum: dedate
versicherungsbeginn: dedate
iban_auszahlung|auszahlungskonto_iban: iban

# real_estate agents_mls US|CA any
mls_number|listing_id: mls
agent_mobile|agent.mobile|agent_cell: mobile
agent_email|agent.email: email
office_phone|office_fax: phone
parcel_id: apn
list_price: amount
latlng: latlng
owner_phones|all_phone_numbers: phones
showing_request: {buyer.phone=phones; buyer.name=person; slot=timestamp}
escrow_card_number: none !credit_card

# crm contacts GB|US|NL title
contact_id: sfid
e-mail|email_address|email_1: email
business_phone|work_phone: phone
mobile|mobile_phone: mobile
e-mail_display_name: person
company: company
website: domain
fax|business_fax: phone
preferred_contact_method: channel
twitter_handle: handleat
do_not_call: flag
email_bounce_count: digit
notes: freetext

# crm leads US|IN|AU any
lead_id: sfid
lead_email|email: email
phone_number|phone: phone
secondary_emails|all_emails|cc_emails: emails
~owner|assigned_to|account_owner: staff
contact_info|contacts: [{type=role2; email=email; phone=clearphone}]
lead_source: source
score: score
utm_campaign: campaign
email_hash|email_sha256|hashed_email: sha256 !email
last_contacted_at: timestamp

# marketing campaign_sends US|DE any
send_id: uuid
to_email|to_email_address|recipient_email: email
from_header|from_address|reply_to: named_email
message_id|rfc822_message_id: msgid
email_template|template_body: emailtemplate
subject|email_subject: subject
email_domain|recipient_domain: maildomain
mx_host: domain
open_count: digit
bounce_code: smtpcode
list_unsubscribe_url: url
email|recipient_md5: md5 !email

# saas users US|GB|SE any
user_id: uuid
~login|username|user_name: email
backup_email|recovery_email: email
mfa_phone|two_factor_phone|sms_phone_number: e164
email_verified_at: timestamp
phone_verified: flag
password_hash: bcrypt
api_key: apikey
avatar_url: url
locale: locale
timezone: tz
last_login_ip: ipv4
notify.email: boolean
notify.sms: boolean

# saas audit_log US any
log_id: snowflake
~actor|principal|subject: staff
action: action
request_id: uuid
~raw|message|line: maillog
source_ip: ipv6
git_remote: gitremote
commit_sha: sha1
image_ref: dockerref
~field_1|arg0: timestamp
change: {old.version=semver; new.version=semver; sha=sha1}
app_version: semver
~properties|context|payload: {k=staff; v=uuid; n=digit}

# saas service_accounts US any
connection_string: jdbc
ssh_target: sshtarget
package: npmpkg
arn: awsarn
bucket_url: url
contact_emails|notification_emails: [email]
cron: cron
port: port

# support tickets US|FR|BR any
ticket_no: ticketno
requester_email|requester.email: email
requester_phone|callback_number: phone
~custom_field_3|cf_11|field_b: email
body: freetext
priority: priority
sla_minutes: smallint
merged_ids: idlist
flags: {email_verified=boolean; phone_type=phonetype; sla=smallint}
custom_fields: [{id=int; value=tagword}]

# library patrons GB|US any
patron_barcode|card_number|library_card_no: librarycard
patron_email|email1: email
isbn: isbn10
call_number: callno
due_date: date
fine: amount
home_tel|tel_1: phone

# research authors GB|DE any
orcid: orcid
corresponding_author_email|corr_email: email
doi: doi
grant_no: grant
issn: issn
arxiv_id: arxiv
h_index: digit

# logistics shipments US|DE any
waybill_no|awb: awb
tracking_no: fedextrack
container_no: container
consignee_phone|consignee.phone|receiver_tel: phone
consignee_email|notify_email: email
sscc: sscc
gln: gln
seal_no: seal
packages: [{sscc=sscc; weight=decimal; tracking=fedextrack}]
weight_kg: decimal
~ref_2|info_3|txt_1: clearphone
eori: eori
delivery_note: freetext

# logistics stops CN|JP|AU any
stop_id: int
recipient_mobile|shoujihao|receiver_mobile: mobile
eta_epoch: epoch
eta_ms: epochms
geohash: geohash
postcode: postal6
parcel_barcode: barcode14
route_code: route
stop_details: {receiver.phone=clearphone; receiver.name=person; geo=latlng; seq=digit}

# manufacturing bom_items DE|US any
part_no|component_number: ssnlikepart
drawing_number: drawing
serial_no|serial_number: serial
lot_no: lot
revision: semver
qty: smallint
torque_nm: decimal
supplier_contact_email|buyer_email: role
plc_mac: mac
mfg_date: yyyymmdd

# manufacturing test_runs US any
run_id: hex16
station_ip: ipv4
fixture_serial: ninedigits
firmware_version: semver
~reading|y_2|val: decimal
~text_4|str_a: serial
start_ts: epoch
measurement: decimal
~attr_3|field_9|value_2: uuid
~param_1|x_17: decimal
operator_badge: badge

# iot devices US|GB any
device_eui: hex16
mac_address|wifi_mac: mac
ipv6_addr: ipv6
imei: imei
sim_iccid: iccid
sim_phone_number|sim_msisdn: e164
battery_mv: smallint
telemetry: {ts=epochms; lat=lat; lon=lon; fw=semver; mac=mac}
bt_address: mac
network: {mac=mac; ip=ipv4; imei=imei; iccid=iccid; imsi=imsi}
tls_fingerprint: fingerprint

# automotive dealer_leads IT|ES|PL any
vin: vin
customer_mobile|cust_mobile: mobile
customer_mail|cust_email: email
registration_no: plate
engine_no: engineno
tyre_dot_code: dot
mileage_km: odo
~data_1|info|c_5: email

# securities positions GB|DE any
isin: isin
cusip: cusip
sedol: sedol
account_ref: acctref
lei: lei
settlement_iban|cash_account_iban: iban
quantity: smallint
price: decimal
trader_id: login
order_id: fixid

# agriculture farm_subsidy FR|RO|HR any
holding_id: holding
payee_iban|bank_account_iban|rib_iban: iban
cattle_tag: eartag
parcel_area_ha: decimal
farmer_phone|tel_fermier: phone
latitude: lat
campaign_year: year
~x_account|val_3|attribute_5: iban

# media subscribers CH|AT|DE any
abo_nr: int
abonnent_email|email: email
rechnung_iban|lastschrift_iban: iban
zahlungskarte_nr|kreditkarte: card
issn: issn
fediverse_handle: fedi
podcast_guid: uuid
rss_url: url
email_address: maskedemail !email
phone: maskedphone !phone

# legal matters GB|IE any
matter_no: matter
client_account_iban|client_iban: iban
opposing_counsel_email|counsel_email: email
court_ref: courtref
hourly_rate: amount
client_tel|client_phone: phone
filing_notes: freetext
phone_number: redacted !phone
email: none !email

# events ticketing BE|FR|US any
ticket_code: ticketcode
seat: seat
attendee_email|buyer_mail: email
attendee_gsm|gsm_nummer|attendee_mobile: mobile
paid_card_number|payment.pan|card_pan: card
qr_payload: hex32
event_epoch: epoch
phone: phonetoken !phone
webhook_body: {buyer.email=email; buyer.iban=iban; amount=amount; ref=uuid}

# restaurants pos_checks US|MX any
check_no: smallint
table_no: room
cc_number|card_num|swiped_card: card
tip: amount
server_pin: pin
loyalty_phone|rewards_phone: phone
terminal: tid
card_number: maskedcard !credit_card
batch_no: batch
~misc|blob|j: {x=spacedcard; y=amount}

# weather stations US|NO any
station_id: station
wban: wban
sunspot_ssn: sunspot
lat_lon: latlng
obs_time: timestamp
pressure_hpa: decimal
checksum: hex32
`

// Codes and words that need no arithmetic: '#' digit, '@' capital, '^' hex digit, '%' capital or digit.
// '|' parts alternatives: of codes a column keeps to one shape, words vary from cell to cell.
export const PATTERNS = `
acctref = CUST-####
action = user.login|user.logout|role.grant|key.rotate|export.start
ahv = 756.####.####.##
apikey = sk_live_%%%%%%%%%%%%%%%%%%%%%%%%
apn = ###-###-###|##-####-###-##
arxiv = 23##.#####|24##.#####
asin = B0%%%%%%%%
authcode = ######|%%%%%%
badge = B#####
awb = 020-########|220-########
bank = Nordbank AG|Banca Alta|Credit Rhone|Volksbank Sued
batch = ###
bin = 4#####|5#####
bookref = @@######|%%%%%%
boolean = true|false
brand = VISA|MASTERCARD|AMEX|DISCOVER|JCB
bsn = #########
bucket = control|variant_a|variant_b
bureau = EXP|EQF|TUC
callno = 8##.## @@@|PR#### .@## 19##
campaign = spring_sale|q3_retarget|brand_2023|newsletter_#
campuscard = 6017############
caseno10 = ##########
casenumber = 2#-CV-0####|2#CR####
caseref = @@/####/#####
cause = 16|17|19|31|127
cellid = ###-##-#####-#####
channel = email|phone|sms|post
cipher = AQICAH%^%%^%^%%%^%%%^%^%%%%%^%%^%%^%==
claimno = CLM-########
codfis = @@@@@@##@##@###@
company = Acme Tools|Blue River Ltd|Kestrel plc|Tanaka Seiko KK|Nordwind GmbH|Lumen Pay|Mapleridge Inc
confno = ########|%%%%%%%%%
container = MSKU#######|TGHU#######|CMAU#######
control = #########
costcenter = CC-####
country2 = DE|FR|IT|ES|NL|GB|PL|AT
coupon = SAVE##|WELCOME10|FREESHIP
courtref = HC-202#-00####
cpe = PT0002##########@@
cron = 0 # * * *|*/5 * * * *|## 2 * * 1
currency = EUR|EUR|USD|GBP|CHF
cusip = ######10#|%####%10#
dea = B@#######|A@#######
decision = APPROVED|DECLINED|REFER
delivery = DELIVERED|FAILED|PENDING
dialcode = +1|+44|+49|+91|+55|+90|+27|+971
digit = #
dims = ## x ## x # cm|210x297x##
dispo = SALE|CB|NA|DNC
dln = ##############
dlnumber = @#######|@###-####-####
dni = ########@|X#######@
doi = 10.10##/j.@@@.202#.0####
dot = DOT %%%% %%%% ##2#
drawing = DRW-#####-@
e2e = NOTPROVIDED|E2E-##########|@@@@########-####
eartag = FR ## #### ####|RO#########
ebtcase = #########
edipi = 1#########
efin = ######
ein = 20-#######|36-#######|47-#######|82-#######
eircode = D0# %%%#|1###
empno = 1#####|E#####
engineno = @@##@######
eori = DE########|GB############
eticket = 220##########|125##########
ext4 = ####
fedextrack = ############|7###########
ffn = BA########|####### ###
filing = S|MFJ|MFS|HOH
fingerprint = ^^:^^:^^:^^:^^:^^:^^:^^
fixid = ORD########-#####|##########-##
flag = Y|N
flight = LH###|BA####|DL####|AF####
geohash = u33%%%%|9q8%%%%
giftaid = GA-######
giftcard = 6006############
gln = 40###########
gpa = 3.##|2.##
gpcode = @#####
grant = EP/@######/1|DFG #########
hex16 = ^^^^^^^^^^^^^^^^
hex32 = ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hojin = #############
holding = 0##-######
hscode = ####.##.##
idlist = #####,#####|#####
imsi = 28601##########|40445##########
int = #####|######
invoice = INV-2023-#####|RE########|F23/#####
isir = #########@@01
issn = ####-####
itin = 9##-7#-####|9##-8#-####
jan = 49###########
jppostal = ###-####
kontonr = ##########
kvk = ########
last4 = ####
leaseid = L-#####
letterref = IE/####/@@
license = ########
loanid = LN##########|##-######-#
locale = en-US|de-DE|fr-FR|sv-SE
locker = ##-##-##
login = @####|trd_##
lot = L23####|LOT-####-@
loyalty = #########|9########
maskedcard = **** **** **** ####|4#####******####|5### ##** **** ####|XXXXXXXXXXXX####
maskediban = DE** **** **** **** **## ##
maskedphone = ***-***-####
maskedssn = XXX-XX-####
matter = #####.####
mbi = 1@@#-@@#-@@##
mcc = 5411|5812|4111|5732
md5 = ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
memberid = @@@#########|W#########
memberno = #######
mid = 4445#########|00000########
mls = ML########|#######
month = 01|04|07|11|12
mpan = 1############|2############
mprn = ##########
mrn = ########|MRN-#######
ndc = #####-####-##
nif = 2########
ninedigits = #########
nip = ##########
nsn = ####-##-###-####
orderlong = 45###########1##|10##############
orderno = ORD-#######|#########
par = V00101381#################|500138%%%%%%%%%%%%%%%%%%%%%%%
passport = @########|#########
pcn = ADV|MEDDPRIME|@@@
permit = P-####
pesel = 8#0#1######
phonemodel = iPhone 13|Galaxy S21|Redmi Note 11|Pixel 6a
phonetoken = tok_%%%%%%%%%%%%
phonetype = mobile|landline|voip
pin = ####
piva = 0##########
plancode = BASIC_M|PRO_Y|TEAM_50
plate = @@@-####|@@ ## @@@
platform = ps5|pc|switch|ios
pnr = %%%%%%
pod = IT001E########
policyno = POL-########|@@@#######
pono = 4500######
port = 443|5432|80##
postal5 = 1####|7####|28###
postal6 = ######|1#####
postcode = SW1A #@@|M# #@@|LS## #@@
pps = #######@|#######@@
priority = P1|P2|P3
ptin = P0#######
pump = #
queue = billing|tech_l1|retention
rank = E-#|O-3|W-2
ratecode = BAR|AAA|CORP#
reasoncode = 10.4|13.1|4853|4837
redacted = [REDACTED]|***REDACTED***
relation = spouse|child|parent
role2 = primary|billing|technical
room = 1##|2##|#
route = R-##
rrn = ############
rxno = #######
sapno = 0000######
schoolcode = 00####
score = 6##|7##
sdi = %%%%%%%
seal = @@@######
seat = ##A|##C|##F
sedol = @######|#######
semver = 1.#.#|2.##.#|0.#.##
senderid = LUMENPAY|INFO|#####
serial = SN%%%%%%%%%%|@@##-######|############
sessionref = @@-######-####
sfid = 0035g00000%%%%%%%%|00Q5g00000%%%%%%%%
sha1 = ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
sha256 = ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
siret = ### ### ### #####|##############
sitecode = S####
sku = @@@-####-@@|SKU######
smtpcode = 250|550 5.1.1|421
snowflake = 11################
sortcode = ##-##-##
source = web|referral|tradeshow
source2 = credit|debit|prepaid
ssnlikepart = ###-##-####
stateid = ##-#######|###-####-#
station = K@@@|GHCND:USW000#####
steuerid = ###########
stripecus = cus_%%%%%%%%%%%%%%
studentid = B00######|9########
subject = Your order shipped|Spring news|Reset your password|Half price this week
svnr = #### 0#0#7#
tac = 35######
tagword = vip|trial|eu-west
taxno = ##/###/#####
taxno10 = ##########
tckn = 1##########
termcode = 2023#0
ticketcode = TKT-%%%%-%%%%
ticketno = #####|HD-######
tid = ########
tintype = SSN|EIN|ITIN
token = tok_%%%%%%%%%%%%%%%%
tokenref = DNITHE4###########################
tradeline = @@######XXXX
trunk = TG_###
twodigits = ##
tz = Europe/Berlin|America/New_York|Asia/Tokyo
ubrn = #### #### ####
uic = W@@%%%
ukaccount = ########
unit = #@|Apt ##
upstrack = 1Z%%%%%%##########|94001##################
usaccount = ##########|########|############
usstate = CA|NY|TX|WA|FL
vat = DE#########|ATU########|NL#########B01|FR###########|IT###########
voucher = VCH######
wban = #####
year = 2021|2022|2023
yen = ###00|#,#00
zip = 9####|1####|606##
zip4 = 9####-####|1####-####
zone = A|B|C1
`
