/** Words of column names that point to email addresses, and words that point elsewhere beside them. */

import type { ClassWords } from './detector-class.ts'

export const emailWords: ClassWords = {
  terms: {
    english: {
      sure: `email emailaddress emailaddr emailadr emailad emailadress emailadd emladdr eml emladdress emailaccount emailcontact emailbox emailalias
        electronicmail electronicmailaddress electronicaddress eaddress eaddr mailaddr mailadr mailid smtpaddress smtpaddr
        gmail gmailaddress hotmail replyemail mailbox mailboxaddress`,
      alone: 'mail emailid',
      hint: `webmail mailer mailing emailto emailcc netid internetaddr netaddress headerfrom envfrom mfrom invoiceto feedback unsubscribe mailaddress mailto mailfrom contact contactpoint contactinfo contactdetail login loginname loginid logon logonname
        signin signinname username user userid uid userprincipalname upn principal principalname identity subject sub
        account accountname accountid alias handle appleid googleid googleaccount microsoftaccount msaccount paypal paypalid
        paypalaccount icloud skype skypeid msn outlook exchange zelle venmo facebook linkedin slack zoom teams
        recipient sender from to cc bcc replyto returnpath returnto envelope envelopefrom envelopeto envelopesender
        envelopereceiver envelopesender fromaddress toaddress ccaddress bccaddress rcpt rcptto deliveredto
        originalto forward forwardto forwardedto forwardingaddress errorsto bounce bounceaddress originator
        author committer reporter assignee requester requestor submitter collaborator follower watcher mentioned organizer organiser
        attendee invitee host guest participant reviewer approver by owner steward creator editor moderator
        notify notification notificationaddress notifications alert alertto escalation escalateto inform subscriber
        subscription distributionlist mailinglist correspondent correspondence respondto reachme
        reachableat support helpdesk abuse postmaster webmaster registrant techcontact admincontact newsletter
        member lead prospect respondent destination target address primaryaddress contactaddress webaddress
        internetaddress onlineaddress communication communicationaddress comm endpoint`,
    },
    westEuropean: {
      sure: `mailadresse mailadress emailkontakt ekontakt epost epostadress epostadresse epostkonto mejl mejladress mailkonto
        emailkonto elektronischepost epostnr netpost tolvupostur netfang
        courriel courrielle adressecourriel adresseemail adressemail adressemel adresseelectronique adressedecourriel
        courrierelectronique courrierel adressemessagerie messagerieelectronique
        correoelectronico correoe correoelec correoelect correoelectr correos direccionemail direcciondecorreo direccioncorreo
        direccioncorreoelectronico direcciondecorreoelectronico direccionelectronica correuelectronic
        indirizzoemail indirizzomail indirizzoelettronico postaelettronica indirizzopostaelettronica indirizzodipostaelettronica
        enderecoemail enderecodeemail enderecoeletronico correioeletronico correioelectronico enderecodecorreioeletronico
        mailadres emailadres emailadress emailadressen elektronischepostadres adresaemail adresademail adresadeemail
        postaelectronica adresaelectronica adresapostaelectronica adresadepostaelectronica`,
      alone: 'correo pec mel correio correu',
      hint: `kontakt kontakte kontaktadresse ansprechpartner empfanger empfaenger absender benutzer benutzername
        benutzerkennung anmeldename nutzer nutzername konto verfasser ersteller erstelltvon geandertvon antwortan kopie
        destinataire expediteur utilisateur identifiant compte auteur repondrea copie connexion
        contacto remitente destinatario usuario nombreusuario cuenta autor responder copia
        contatto mittente utente nomeutente autore rispondia conta contato remetente utilizador nomeusuario
        gebruiker gebruikersnaam afzender ontvanger contactpersoon inlog anvandare anvandarnamn avsandare mottagare bruker
        brukernavn avsender mottaker modtager afsender bruger brugernavn kontaktperson utilizator expeditor`,
    },
    european: {
      sure: `sähköposti sähköpostiosoite spostiosoite sposti email-osoite emailosoite meiliosoite
        emailcim emailcím elektronikuscím elektronikuslevélcím drótposta villámposta epost epostiaadress meiliaadress epasts
        epastaadrese elpastas elpaštas elpaštoadresas elektroninispaštas eposta epostaadresi epostaadres elektronikposta
        elektronikpostaadresi mailadresi emailadresi ηλεκτρονικόταχυδρομείο ηλεκτρονικήδιεύθυνση διεύθυνσηemail ηταχυδρομείο
        ilektronikotachydromeio ilektronikodiefthinsi diefthinsiemail imeil ιμέιλ postaelektronike adresaemail`,
      hint: `yhteystieto lähettäjä vastaanottaja käyttäjä käyttäjätunnus kapcsolat feladó címzett felhasználó felhasználónév
        saatja saaja kasutaja sūtītājs saņēmējs siuntėjas gavėjas gönderen alıcı kullanıcı kullanıcıadı iletişim
        αποστολέας παραλήπτης χρήστης επικοινωνία apostoleas paraliptis xristis epikoinonia`,
    },
    slavic: {
      sure: `adresemail adresmail adresemailowy mailowy adresmailowy pocztaelektroniczna adrespocztyelektronicznej adrespoczty skrzynkamailowa
        epošta epostaadresa emailadresa mailováadresa emailováadresa elektronickápošta elektronickáadresa adresaelektronicképošty
        elektroničkapošta elektronskapošta elpošta epoštanaslov adresaepošte mejl имейл имейладрес емейл мейл мэйл емаил
        электроннаяпочта адресэлектроннойпочты эпочта элпочта почтовыйящик электронныйадрес elektronnayapochta
        elektronnajapochta elpochta pochta електроннапошта адресаелектронноїпошти електроннаадреса електроненадрес електроннапоща
        елпошта имэйл elposhta elektronnaposhta`,
      alone: 'почта пошта поща poczta mailová pošta',
      hint: `nadawca odbiorca użytkownik nazwaużytkownika kontakt osobakontaktowa login odesílatel příjemce uživatel odosielateľ príjemca
        používateľ pošiljatelj primatelj korisnik korisničkoime prejemnik uporabnik отправитель получатель пользователь логин
        контакт контакты otpravitel poluchatel polzovatel kontakty відправник отримувач користувач логін подател потребител`,
    },
    asian: {
      sure: `邮箱 電郵 电邮 邮件地址 電郵地址 电邮地址 电子邮件 电子邮箱 電子郵件 電子信箱 电子信箱 邮箱地址 邮箱账号 邮件 郵箱 信箱 email地址 电子邮件地址 電子郵件地址
        メール メールアドレス メアド eメール 電子メール イーメール
        이메일 이메일주소 전자우편 메일 메일주소 전자메일 전자우편주소 thưđiệntử địachỉemail hộpthư diachiemail thudientu diachithudientu
        อีเมล อีเมล์ อีเมลล์ surel alamatemail alamatsurel suratelektronik alamatsuratelektronik emel alamatemel posel
        ईमेल ईमेलपता البريدالالكتروني البريدالإلكتروني بريدالكتروني بريد ایمیل پستالکترونیک דואל דואראלקטרוני כתובתמייל מייל אימייל
        youxiang youjian dianziyouxiang dianziyoujian dianyou meiru meruadoresu meeruadoresu denshimeru imeil imeiljuso baridelectroni baridiliktruni doarelektroni`,
      alone: 'mêl',
      hint: `联系人 联系方式 發件人 发件人 收件人 抄送 用户名 用户 账号 登录名 寄件者 差出人 送信者 受信者 宛先 宛名 ユーザー ユーザー名 連絡先 アカウント ログイン
        연락처 보낸사람 받는사람 발신자 수신자 사용자 아이디 계정 liênhệ ngườigửi ngườinhận tàikhoản lienhe nguoigui nguoinhan taikhoan
        kontak pengirim penerima pengguna namapengguna akun hubungi penghantar ผู้ติดต่อ ผู้ส่ง ผู้รับ ชื่อผู้ใช้
        lianxi lianxiren lianxifangshi renrakusaki yeonrakcheo المرسل المستلم المستخدم אישקשר`,
    },
    products: {
      // SAP ADR6; vCard, LDAP, X.509; Dynamics, HubSpot, PeopleSoft; Active Directory.
      sure: `smtpaddr smtpadr smtpmail smtp intad1 emailaddress1 emailaddress2 emailaddress3 rfc822mailbox rfc822name
        hsemail workemail othermailbox targetsmtpaddress emailtext netemail`,
      alone: 'rfc822 rfc822address intad',
      // SAP infotype 0105; Active Directory; Gravatar; SSR CTCE and APE of reservation systems; HL7 XTN.4; X12 PER.
      hint: `usridlong usrid proxyaddress proxyaddresses targetaddress msrtcsipprimaryuseraddress samaccountname
        ctce ape xtn4 per04 per06 per08 telecom xoriginalto xoriginalfrom xforwardedto dispositionnotificationto
        authoremail committer coauthoredby signedoffby reviewedby createdby modifiedby updatedby changedby lastmodifiedby
        insertedby deletedby approvedby assignedto submittedby requestedby reportedby ownedby enteredby loggedby postedby
        sentby sentto sharedwith invitedby grantedto grantee actor actorid preferredusername nameid samlnameid distinctid
        pixkey chavepix pix registereduser editedby uploadedby verifiedby resolvedby openedby closedby`,
    },
  },
  otherContent: 'slot',
  otherIdentifiers: 'dependency filename image package purl references remote repo',
  lookalikes: 'messageid msgid inreplyto threadid jid xmpp kerberos krb spn serviceprincipal clone ssh dsn',
}
