/** Names that people give to columns of the five classes: by language, in its script and in Latin, and by product. */

import type { SensitiveClass } from '../../src/core/classification.ts'

type Terms = Readonly<Record<SensitiveClass, readonly string[]>>

/** Names of each class, separated by `|`; their words are separated by spaces. */
function terms(us_ssn: string, email: string, credit_card: string, phone: string, iban: string): Terms {
  const split = (names: string) => names.split('|')
  return {
    us_ssn: split(us_ssn),
    email: split(email),
    credit_card: split(credit_card),
    phone: split(phone),
    iban: split(iban),
  }
}

export const columnTerms: Readonly<Record<string, Terms>> = {
  en: terms(
    'ssn|social security number|SSN no|soc sec num|social security nbr|ssn',
    'email|email address|e mail|email addr|mail',
    'credit card number|card number|cc number|card no|pan|card nbr',
    'phone|phone number|tel|mobile|telephone no|fax|cell phone',
    'iban|iban number|IBAN|account iban',
  ),
  es: terms(
    'numero seguro social|seguro social',
    'correo electronico|correo',
    'numero tarjeta|tarjeta de credito',
    'telefono|número de teléfono|movil',
    'iban|codigo iban',
  ),
  fr: terms(
    'numero securite sociale',
    'courriel|adresse email|adresse électronique',
    'numéro carte|carte bancaire',
    'telephone|numero de telephone|tel portable',
    'iban|numéro iban',
  ),
  de: terms(
    'sozialversicherungsnummer',
    'email adresse|mail adresse|E-Mail',
    'kreditkartennummer|kartennummer',
    'telefon|telefonnummer|handynummer|rufnummer',
    'iban|iban nummer',
  ),
  it: terms(
    'numero sicurezza sociale',
    'indirizzo email|posta elettronica',
    'numero carta|carta di credito',
    'telefono|cellulare|numero di telefono',
    'codice iban|iban',
  ),
  pt: terms(
    'numero seguranca social',
    'endereço email|correio eletronico',
    'numero cartão|cartao de credito',
    'telefone|telemovel|celular',
    'iban|numero iban',
  ),
  nl: terms(
    'socialezekerheidsnummer',
    'emailadres|e mailadres',
    'creditcardnummer|kaartnummer',
    'telefoonnummer|mobiel nummer',
    'iban nummer|iban rekening',
  ),
  sv: terms(
    'ssn|amerikanskt ssn',
    'e-post|e-postadress|mejladress',
    'kortnummer|kreditkortsnummer|betalkort',
    'telefonnummer|mobilnummer|mobiltelefon',
    'iban|kontonummer iban',
  ),
  da: terms(
    'ssn',
    'e-mailadresse|mailadresse',
    'kortnummer|betalingskort|kreditkortnummer',
    'telefonnummer|mobilnummer|tlf',
    'iban nummer',
  ),
  fi: terms(
    'ssn|sosiaaliturvatunnus',
    'sähköposti|sähköpostiosoite',
    'luottokortti|kortin numero|luottokortin numero',
    'puhelin|puhelinnumero|matkapuhelin',
    'iban|iban tilinumero|tilinumero',
  ),
  pl: terms(
    'ssn|numer ubezpieczenia społecznego',
    'adres email|adres e-mail|poczta elektroniczna',
    'numer karty|numer karty kredytowej|karta kredytowa',
    'telefon|numer telefonu|telefon komórkowy|nr tel',
    'iban|numer iban|numer rachunku',
  ),
  cs: terms(
    'ssn|číslo sociálního pojištění',
    'e-mailová adresa|e mail',
    'číslo karty|číslo kreditní karty|platební karta',
    'telefonní číslo|mobilní telefon|telefon',
    'iban|číslo iban|číslo účtu',
  ),
  sk: terms(
    'ssn',
    'emailová adresa',
    'číslo karty|kreditná karta',
    'telefónne číslo|telefón|mobilný telefón',
    'iban|číslo účtu',
  ),
  hu: terms(
    'ssn',
    'email cím|e-mail cím',
    'kártyaszám|bankkártya|hitelkártya szám',
    'telefonszám|mobilszám|telefon',
    'iban|iban szám|bankszámlaszám',
  ),
  ro: terms(
    'ssn|numar asigurare sociala',
    'adresa email|adresa de email|posta electronica',
    'numar card|numar card de credit|card bancar',
    'numar telefon|telefon mobil|telefon',
    'iban|cod iban',
  ),
  tr: terms(
    'ssn|sosyal güvenlik no',
    'e posta|e-posta adresi',
    'kart no|kart numarası|kredi kartı numarası',
    'telefon numarası|cep telefonu|telefon no|gsm no',
    'iban|iban no|hesap no',
  ),
  el: terms(
    'ssn',
    'διεύθυνση email|ηλεκτρονικό ταχυδρομείο',
    'αριθμός κάρτας|πιστωτική κάρτα|arithmos kartas',
    'τηλέφωνο|κινητό|αριθμός τηλεφώνου|tilefono|kinito',
    'iban|αριθμός λογαριασμού',
  ),
  ru: terms(
    'ssn|номер социального страхования',
    'электронная почта|адрес электронной почты|эл почта|elektronnaya pochta',
    'номер карты|номер кредитной карты|nomer karty',
    'телефон|номер телефона|мобильный телефон|nomer telefona',
    'iban|номер счета',
  ),
  uk: terms(
    'ssn',
    'електронна пошта|електронна адреса',
    'номер картки|кредитна картка',
    'телефон|номер телефону|мобільний телефон',
    'iban|номер рахунку',
  ),
  id: terms(
    'ssn|nomor jaminan sosial',
    'alamat email|surel|emel',
    'nomor kartu|no kartu kredit|kartu kredit',
    'nomor telepon|no hp|no telp|nomor handphone',
    'iban|nomor rekening',
  ),
  vi: terms(
    'ssn',
    'địa chỉ email|thư điện tử',
    'số thẻ|số thẻ tín dụng|so the',
    'số điện thoại|điện thoại|so dien thoai',
    'iban|số tài khoản',
  ),
  ja: terms(
    'ssn|社会保障番号',
    'メールアドレス|メール|meruadoresu',
    'カード番号|クレジットカード番号',
    '電話番号|携帯電話番号|携帯番号|denwa bango',
    'iban|口座番号',
  ),
  zh: terms(
    'ssn|社会安全号码',
    '邮箱|电子邮件|电子邮箱地址|youxiang',
    '信用卡号|卡号|银行卡号码',
    '电话|手机号码|联系电话|shouji hao',
    'iban|银行账号',
  ),
  ko: terms(
    'ssn|사회보장번호',
    '이메일|이메일주소|전자우편',
    '카드번호|신용카드번호',
    '전화번호|휴대폰번호|휴대전화',
    'iban|계좌번호',
  ),
  ar: terms(
    'ssn|رقم الضمان الاجتماعي',
    'البريد الإلكتروني|بريد الكتروني',
    'رقم البطاقة|بطاقة ائتمان|raqam bitaqa',
    'رقم الهاتف|الجوال|raqam jawwal|hatif',
    'iban|رقم الحساب',
  ),
  he: terms(
    'ssn',
    'דואר אלקטרוני|כתובת מייל',
    'כרטיס אשראי|מספר כרטיס',
    'טלפון|מספר טלפון|נייד',
    'iban|חשבון בנק',
  ),
  hi: terms('ssn', 'ईमेल|ईमेल पता', 'क्रेडिट कार्ड|कार्ड नंबर', 'फोन नंबर|मोबाइल नंबर|फोन', 'iban'),
  erp: terms(
    'ssn nbr|SSNO|soc sec nbr',
    'SMTP ADDR|emailid|email addr1',
    'CCNUM|cr card nbr|card nbr',
    'TELF1|TEL NUMBER|mob number|telno',
    'TIBAN|BANKN|iban no',
  ),
  crm: terms(
    'ssn c|SSN txt|social security number c',
    'PersonEmail|emailaddress1|work email c|hs email',
    'credit card number c|payment card c',
    'MobilePhone|telephone1|phone c|other phone c',
    'iban c|bank iban txt',
  ),
  payments: terms(
    'recipient TIN|taxpayer id',
    'receipt email|payer email|reply to|return path',
    'primary account number|card pan|field 2|form of payment|payment method',
    'contact phone|telephone voice',
    'DbtrAcct|creditor account|payout account|beneficiary acct',
  ),
  directory: terms(
    'employee SSN',
    'mail|rfc822mailbox|proxyAddresses|userPrincipalName|recipient|envelope from',
    'card number|amex',
    'telephoneNumber|homePhone|facsimileTelephoneNumber|otherMobile',
    'account number|bank account',
  ),
  calls: terms(
    'subscriber ssn',
    'reported by|created by|sender|cc list',
    'stored card number|card id|account number',
    'calling number|called party number|ANI|A number|callerid|cust ph no|mob nbr',
    'bank acct no|direct debit',
  ),
}

/** The languages of table names; English is the most frequent. */
export const languages: readonly string[] = [...Object.keys(columnTerms), 'en', 'en', 'en', 'en', 'en', 'en']
