/** Words of column names that point to bank account numbers (IBAN), and words that point elsewhere beside them. */

import type { ClassWords } from './detector-class.ts'

export const ibanWords: ClassWords = {
  terms: {
    english: {
      sure: `iban ibannumber ibannum ibanno ibannbr ibannr ibancode ibanaccount ibanaccountnumber ibanaccountno ibanacct accountiban
        internationalbankaccountnumber internationalbankaccountno internationalbankaccount intlbankaccountnumber intlbankacct`,
      alone: 'internationalaccountnumber internationalaccount',
      hint: `account accountnumber accountno accountnum accountnbr accountid accountref accountidentification accountidentifier
        accnumber accno accnum acc acctno acctnum acct acctnbr acctnumber acctid acnumber acno
        bank bankaccount bankaccountnumber bankaccountno bankacct bankacctno bankacctnum bankacctnbr bankno banknumber bankdetail
        bankdata bankinfo bankinformation bankcoordinate banking bankingdetail bankref bban ban
        beneficiaryaccount beneficiary payoutaccount payout settlementaccount settlement payment paymentaccount paymentdetail
        paymentdestination paymentinstruction pay paytoaccount payee payer payor payto payin debtor creditor debtoraccount
        creditoraccount debitaccount creditaccount ordering orderingaccount remittance remit remitto remittanceaccount refund refundto refundaccount
        deposit depositaccount directdeposit directdebit directdebitaccount sepa sepaaccount sepadebit sddaccount sct wire
        wireaccount wireinstruction transfer transferaccount transferto counterparty counterpartyaccount clearingaccount
        cashaccount currentaccount savingsaccount checkingaccount chequingaccount escrow escrowaccount
        nostro vostro loro giro funding fundingsource fundingaccount salary salaryaccount wages payrollaccount
        offsetaccount contraaccount chargesaccount feeaccount collectionaccount collectaccount mandateaccount disbursement
        disbursementaccount destinationaccount sourceaccount fromaccount toaccount destination source wallet financialaccount financialinstitutionaccount
        instrument paymentmethod paymentinstrument debit credit billing treasury corporateaccount merchantaccount
        vendoraccount supplieraccount`,
    },
    westEuropean: {
      sure: `ibannummer kontoiban ibankonto internationalebankkontonummer internationalebankrekeningnummer
        numeroiban numiban noiban codeiban codigoiban codiceiban coordiban ibanrekening ibanrekeningnummer cuentaiban compteiban contoiban
        contaiban ibancompte ibancuenta ibanconto ibanconta codiban numariban nriban ibannumero ibancliente ibankode ibanco`,
      hint: `kto ktonr ktonum ktnr bankkto rek reknr gironummer ctacte ctacorriente cuentacorriente numcuentacorriente ncompte cptbancaire cpte cptebancaire numcpte
        conticorrenti ccbancario konto kontonummer kontonr kontonum kontoverbindung bankkonto bankverbindung bankkontonummer bankkontonr kontoinhaber
        girokonto gehaltskonto zahlungskonto referenzkonto gegenkonto auftraggeberkonto empfangerkonto empfaengerkonto
        zahlungsempfanger lastschrift lastschriftkonto uberweisung auszahlung auszahlungskonto erstattungskonto bankdaten
        compte numerocompte numerodecompte comptebancaire comptebeneficiaire numcompte nocompte numerocomptebancaire rib
        ribiban coordonneesbancaires coordbancaires comptedonneur comptecredit comptedebit virement versement banque prelevement beneficiaire
        cuenta numerocuenta numerodecuenta cuentabancaria numcuenta nrocuenta ctabancaria cta ctabanco ccc cuentabanco
        cuentacargo cuentaabono cuentadestino cuentaorigen domiciliacion transferencia banco datosbancarios beneficiario
        conto numeroconto contocorrente contobancario numerodiconto coordinatebancarie numcc bonifico accredito addebito beneficiario
        conta numeroconta contabancaria numerodaconta numerodeconta contacorrente nib dadosbancarios contadestino debitodireto
        rekening rekeningnummer bankrekening bankrekeningnummer rekeningnr tegenrekening rekeninghouder incasso begunstigde
        bankkontonummer bankgiro plusgiro kontonumer utbetalningskonto lonekonto lonnskonto lonkonto kontonumero reikningur bankareikningur
        cont contbancar numarcont nrcont contulbancar compte comptebancari virament`,
    },
    european: {
      sure: 'ibannumero ibantilinumero ibanszám ibankód ibannumber ibanno ibannumarası ibankonts ibansąskaita αριθμόςiban ibanτραπέζης',
      hint: `tili tilinumero pankkitili pankkitilinumero saajantili maksajantili számlaszám bankszámla bankszámlaszám számla folyószámla
        arvelduskonto pangakonto kontonumber konts kontanumurs bankaskonts sąskaita sąskaitosnumeris bankosąskaita
        hesap hesapno hesapnumarası bankahesabı bankahesapno banka λογαριασμός αριθμόςλογαριασμού τραπεζικόςλογαριασμός
        logariasmos arithmoslogariasmou trapezikoslogariasmos llogari numrillogarise`,
    },
    slavic: {
      sure: 'numeriban nriban kodiban kontoiban ibankod čísloiban ibančíslo ibanúčet ibanbroj brojiban номерiban кодiban ибан рахунокiban ibanсметка',
      hint: `konto rachunek rachunekbankowy numerrachunku nrrachunku numerrachunkubankowego nrkonta numerkonta kontobankowe nrb
        účet čísloúčtu bankovníúčet číslobankovníhoúčtu bankovýúčet račun brojračuna bankovniračun tekućiračun žiroračun
        bančniračun transakcijskiračun številkaračuna счет счёт номерсчета расчетныйсчет банковскийсчет лицевойсчет schet
        nomerscheta raschetnyischet рахунок номеррахунку банківськийрахунок сметка банковасметка номернасметка сметкаiban
        rahunok smetka beneficjent przelew`,
    },
    asian: {
      sure: 'iban号 iban番号 iban号码 ibanコード iban번호 nomoriban noiban رقمالايبان رقمالآيبان الآيبان ايبان آيبان شمارهشبا شبا sheba shaba מספרiban',
      hint: `账号 帐号 账户 银行账号 银行帐号 银行账户 收款账号 口座 口座番号 銀行口座 振込先 振込口座 계좌 계좌번호 은행계좌 tàikhoản sốtàikhoản taikhoan sotaikhoan
        บัญชี เลขที่บัญชี เลขบัญชี rekening nomorrekening norekening norek akaun noakaun nomborakaun rekeningbank
        حساب رقمالحساب الحسابالبنكي חשבוןבנק מספרחשבון zhanghao yinhangzhanghao koza kozabango ginkokoza gyejwa gyejwabeonho hisab raqamhisab`,
    },
    products: {
      // SAP TIBAN; ISO 20022 DbtrAcct and CdtrAcct; MT103 fields 50 and 59.
      sure: 'tiban koiban ibanid ibanpayee ibanpayer ibanbankaccount bankiban',
      hint: `dbtracct cdtracct dbtragtacct cdtragtacct rltdacct dbtr cdtr ultmtdbtr ultmtcdtr acctid acctowner othracct chrgsacct bankn bnkn bankl koinh
        bnkacct bnkact bkacct bkact bkacctno bnkacctno bnkaccount benacct bnfacct bnfracct beneacct beneaccount bnfaccount ordacct orderingcustomer
        mt50k mt59 field50k field59 tag50k tag59 f50k f59 debtacct credacct payacct extacct extaccount externalaccount
        sourceofunds creditoridentification partneraccount accountiddebtor relatedaccount linkedaccount`,
    },
  },
  otherContent: 'bic swift',
  otherIdentifiers: 'mandate mandateid creditorid uci',
}
