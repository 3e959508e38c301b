/** Words of column names that point to payment card numbers, and words that point elsewhere beside them. */

import { productIdentifiers } from '../vocabulary/product-identifiers.ts'
import type { ClassWords } from './detector-class.ts'

/** Cards that cannot pay, or only in one shop. */
const otherCards = [
  `badge bonus campus clubcard ffn ffp fleet fuelcard giftcert giftcertificate graphics greencard health insurance
    keycard medicare memory miles patron scorecard smartcard sound storedvalue storedvaluecard student trello vitale loyalty gift library sim reward rewards points voucher coupon transit travel parking oyster ration prepaidphone
    frequentflyer flyer mileage giftcard membership`,
  `fidelite fidelidad fidelidade fedelta fidelitate identite identidad identita identidade kundenkarte klantenkaart
    treue bonuskarte geschenk geschenkkarte cadeau regalo presente presentkort gavekort bibliotheque biblioteca bibliothek
    bibliotheek lojalitet medlemskort membre socio tessera grise sejour sanitaria gesundheitskarte ausweis krankenkasse`,
  'kanta-asiakas kirjasto henkilö ajándék hűség könyvtári személyi sadakat hediye kütüphane kimlik öğrenci üyelik δώρου πίστης ταυτότητας',
  'lojalnościowa podarunkowa biblioteczna stałego dowodu věrnostní dárková knihovní občanská občanský vernostná darčeková vjernosti poklon бонусная подарочная скидочная лояльности бонусна подарункова bonusnaya skidochnaya podarochnaya',
  '会员卡 會員卡 礼品卡 购物卡 医保卡 社保卡 学生卡 公交卡 図書カード ポイントカード ポイント 会員 会員カード 診察券 멤버십 포인트 기프트 회원카드 교통카드 hadiah perpustakaan keanggotaan thànhviên thẻthànhviên memberi',
].join(' ')

export const creditCardWords: ClassWords = {
  terms: {
    english: {
      sure: `creditcard creditcardnumber creditcardno creditcardnum creditcardnbr creditcardnr creditcc debitcard
        debitcardnumber debitcardno debitcardnum paymentcard paymentcardnumber bankcard bankcardnumber atmcard
        atmcardnumber prepaidcard virtualcard purchasingcard procurementcard crcard crdcard crcd credcard dbcard ccard
        ccnumber ccnum ccno ccnbr ccnmbr ccn ccnr cardpan pan pannumber panno clearpan fullpan plainpan fpan dpan
        primaryaccountnumber primaryaccountno primaryaccountnum primaryacctnumber primaryacctnum primaryacctno
        primaryacctnbr primaryacct accountnumberpan plasticnumber plasticno creditcardaccount`,
      generic: `chargecard crdtcard cardnumber cardno cardnum cardnbr cardnr cardnmbr crdno crdnbr crdnum cardaccountnumber
        cardaccountno cardaccount cardacct cardacctnumber cardacctno cardacctnum cardmembernumber cardmemberno`,
      alone: 'creditnumber',
      numbered: 'card crd cc plastic',
      hint: `chd bkcard creditno creditaccount debitno credno cardn cardcode visa mastercard mastercardnumber maestro amex americanexpress discover diners dinersclub jcb unionpay rupay mir
        paymentinstrument paymentinstrumentid paymentaccount paymentmethod paymentmethodid paymentdetail paymentsource paymentmeans
        paymenttoken paymentid paymentno paymentnumber paymentref paymentdata paymentinfo payment pay payinstrument
        instrument instrumentnumber instrumentid instrumentno fop formofpayment formpayment tender tenderaccount tendernumber
        funding fundingsource fundinginstrument fundingaccount wallet walletcard pcard tcard vcn vcc vcard swipe
        track track1 track2 track2data magstripe magneticstripe token         account accountnumber accountno accountnum accountnbr accountid acct acctno acctnum acctnbr acctnumber acctid
        acnumber acno acc accno accnum accnumber actno cardholder cardmember cardid cardref cardreference cardvalue carddata
        cardinfo carddetail cardentry keyed embossed billing checkout purchase deposit guarantee chargeto
        charged chargeaccount paidwith paidby issuernumber`,
    },
    westEuropean: {
      sure: `kreditkarte kreditkartennummer kreditkartenummer kreditkartennr kreditkartenr kreditkartennum kkartennr
        kknummer kknr debitkarte bankkarte zahlungskarte zahlkarte zahlkartennummer cartebancaire cartecredit
        cartedecredit cartedebit cartedepaiement cartepaiement cartebleue nocb numcb numerocb numerocartebancaire
        numerodecartebancaire numerocartecredit numerocartedecredit numcartebancaire tarjetacredito tarjetadecredito
        tarjetadebito tarjetadedebito tarjetabancaria tarjetapago numerotarjetacredito numerotarjetadecredito
        numerodetarjetadecredito cartacredito cartadicredito cartadebito cartadidebito cartapagamento cartadipagamento
        numerocartacredito numerocartadicredito numerodicartadicredito cartaocredito cartaodecredito cartaodebito
        cartaodedebito numerocartaocredito numerocartaodecredito numerodocartaodecredito creditcardnummer creditkaart
        creditkaartnummer kredietkaart kredietkaartnummer kreditkort kreditkortnummer kreditkortsnummer kredittkort
        kredittkortnummer betalkort betalkortsnummer betalingskort betalingskortnummer betalingskortnr bankkort
        bankkortnummer debetkort dankort dankortnummer greidslukort carddecredit numarcarddecredit carddebit
        carddedebit cardbancar targetacredit targetadecredit`,
      generic: `kartennummer kartennr kartenummer kartenr numerocarte numerodecarte numcarte nocarte numerotarjeta
        numerodetarjeta numtarjeta nrotarjeta notarjeta tarjetanumero numerocarta numerodicarta numcarta
        numerodellacarta numerocartao numerodocartao numcartao nrcartao kaartnummer kaartnr betaalkaart
        betaalkaartnummer betaalpas pasnummer kortnummer kortnr numarcard nrcard numarulcardului`,
      numbered: 'karte karten kkarte carte carta cartao tarjeta targeta kaart kort cardul cardului',
      hint: `kk eckarte kartenzahlung tdc nrotdc numtdc tarj nrotarj tarjnum tarjcred tcredito tdd cartedepaiment zahlungsmittel zahlungsart zahlung zahlungsmethode konto kontonummer moyenpaiement moyendepaiement paiement compte reglement
        mediopago mediodepago formapago formadepago pago cuenta metodopago metododepago pagamento metodopagamento metododipagamento mezzodipagamento
        conto formapagamento formadepagamento meiodepagamento pagamentocartao conta betaling betaalmiddel betaalmethode betaalwijze
        betalning betalningsmetod betalningsmedel betalingsmiddel betalingsmate plata cb eckarte girocard mastercarta`,
    },
    european: {
      sure: `luottokortti luottokortinnumero luottokorttinumero maksukortti maksukortinnumero pankkikortti hitelkártya
        hitelkártyaszám bankkártya bankkártyaszám krediitkaart krediitkaardinumber kredītkarte kredītkartesnumurs
        kreditokortelė kredikartı kredikartıno kredikartınumarası kredikart bankakartı πιστωτικήκάρτα
        αριθμόςπιστωτικήςκάρτας pistotikikarta arithmospistotikiskartas kartekrediti`,
      generic: `korttinumero kortinnumero kártyaszám kaardinumber kartesnumurs kortelėsnumeris kartno kartnumarası kartnumara
        αριθμόςκάρτας arithmoskartas`,
      numbered: 'kortti kortin kártya kaardi kartes kortelės kart kartı κάρτα κάρτας kartas',
      hint: 'maksutapa maksuväline fizetés fizetésimód ödeme ödemeyöntemi ödemearacı πληρωμή pliromi hesap',
    },
    slavic: {
      sure: `kartakredytowa numerkartykredytowej nrkartykredytowej kartapłatnicza numerkartypłatniczej kartadebetowa
        kartabankowa kreditníkarta číslokreditníkarty platebníkarta čísloplatebníkarty debetníkarta kreditnákarta
        číslokreditnejkarty platobnákarta čísloplatobnejkarty kreditnakartica brojkreditnekartice bankovnakartica
        številkakreditnekartice кредитнаякарта номеркредитнойкарты банковскаякарта номербанковскойкарты платежнаякарта
        kreditnayakarta nomerkreditnoykarty bankovskayakarta nomerkreditnojkarty кредитнакартка кредитнакарта
        номеркредитноїкартки банківськакартка`,
      generic: `numerkarty nrkarty číslokarty brojkartice številkakartice номеркарты nomerkarty номеркартки номернакарта
        nomerkartki`,
      numbered:
        'karta karty kartę kartica kartice карта карты карточка карточки карти картка картки kartki kartochki',
      hint: `płatność metodapłatności sposóbpłatności platba způsobplatby plaćanje платеж оплата способоплаты oplata platezh спосібоплати
        плащане konto rachunek`,
    },
    asian: {
      sure: `信用卡 信用卡号 信用卡号码 信用卡號 信用卡號碼 银行卡 银行卡号 銀行卡號 支付卡号 借记卡号 借记卡 储蓄卡号 クレジットカード クレジットカード番号 クレカ クレカ番号 デビットカード番号 デビットカード
        신용카드 신용카드번호 체크카드 체크카드번호 결제카드번호 thẻtíndụng sốthẻtíndụng thetindung sothetindung บัตรเครดิต เลขบัตรเครดิต
        หมายเลขบัตรเครดิต เลขที่บัตรเครดิต kartukredit nomorkartukredit nokartukredit kadkredit nomborkadkredit
        क्रेडिटकार्ड بطاقةالائتمان بطاقةائتمان رقمبطاقةالائتمان כרטיסאשראי מספרכרטיסאשראי xinyongka xinyongkahao
        yinhangka yinhangkahao kurejittokado kurejittokadobango sinyongkadeu kartisashrai`,
      generic: `卡号 卡號 カード番号 카드번호 sốthẻ sothe mathe หมายเลขบัตร เลขที่บัตร nomorkartu nokartu nokad nombokad nomborkad
        kadnumber कार्डनंबर رقمالبطاقة شمارهکارت کارتاعتباری מספרכרטיס kahao kadobango kadeubeonho raqambitaqa
        misparkartis`,
      numbered: '卡 カード 카드 thẻ kartu kad बैंककार्ड بطاقة כרטיס คร์ด บัตร',
      hint: `支付方式 付款方式 支付账号 付款账号 支付 付款 支払方法 お支払い 支払い 決済方法 決済 결제수단 결제 결제정보 thanhtoán thanhtoan ชำระเงิน pembayaran metodepembayaran bayaran
        账号 帐号 zhifu zhifufangshi shiharai kessai gyeolje`,
    },
    products: {
      // ISO 8583 field 2, EMV tag 5A, ISO 20022 PlainCardData, SAP CCARD, PeopleSoft, Authorize.Net.
      sure: `applicationpan plaincarddata plncarddata xcardnum crcardnbr crcardnum crcardno cardpannumber trackpan bkcrd
        crdpan acctpan cardaccountpan pandata panplain`,
      likely: 'de2 de02 de002 df002 tag5a emv5a bit2 bit002',
      // Reservation systems' form of payment; PayPal and acquirers.
      hint: `fopid fopnumber fopno foptext fopaccount fopcc fp fpcc formpaymentnumber pmtcard pmtacct pmt pmtinstrument pymtcard pymt pymtmethod
        paymtmethod ccins ccacct ccaccount ccaccountnumber ccdata ccinfo cccard ibyinstrument trxnaccount f2 f002 field2 field002 fld2
        billacct fundingpan fundingcard guaranteecard uatp bta`,
    },
  },
  otherContent: `access badge bonus business club graphics green health id ident identity insurance kunden klanten klient
    medicare member memory phone report score scorecard sound student telefon telefono telephone time trading trello video
    vitale`,
  otherIdentifiers: `${productIdentifiers} ${otherCards} siren npi tin abn mpan confirmation receipt po purchaseorder transaction txn
    trans trace stan rrn claim policy contract case`,
}
