/** Chinese, Japanese, Korean, Vietnamese, Thai, Indonesian, Malay, Filipino, Hindi; Arabic, Persian, Hebrew. */

import type { LanguageWords } from './language-words.ts'

export const asian: LanguageWords = {
  terms: {
    us_ssn: {
      likely: `社会安全号码 社会安全号 社會安全號碼 社会保障号码 社会保障号 社保号 社保号码 社会保障番号 ソーシャルセキュリティ番号
        사회보장번호 사회보장 soansinhxahoi ansinhxahoi sốansinhxãhội nomorjaminansosial jaminansosial jaminansosialnombor perkeso
        หมายเลขประกันสังคม ประกันสังคม shehuianquanhao shebaohao shakaihoshobango sahoebojangbeonho
        رقمالضمانالاجتماعي الضمانالاجتماعي ביטוחלאומי מספרביטוחלאומי raqamaldaman bituachleumi`,
      hint: `身份证号 身份证号码 身分證字號 身份证 个人番号 마이넘버 主民登録番号 주민등록번호 주민번호 納税者番号 纳税人识别号 cccd cmnd nik npwp aadhaar
        mynumber shenfenzheng shenfenzhenghao juminbeonho teudatzehut`,
    },
    email: {
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
    credit_card: {
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
    phone: {
      sure: `电话 電話 电话号码 電話號碼 手机 手機 手机号 手機號 手机号码 手機號碼 移动电话 行動電話 固定电话 联系电话 聯絡電話 聯繫電話 座机 座机号 座机号码 传真 傳真 传真号 办公电话 家庭电话
        電話番号 携帯 携帯電話 携帯番号 携帯電話番号 電話 固定電話 自宅電話 連絡先電話番号 ケータイ ケータイ番号 ファックス ファックス番号 FAX番号 テレフォン
        전화 전화번호 휴대폰 휴대폰번호 휴대전화 휴대전화번호 핸드폰 핸드폰번호 연락처번호 연락전화 자택전화 집전화 팩스 팩스번호 휴대번호
        điệnthoại sốđiệnthoại sđt sodienthoai dienthoai sdt dienthoaididong dtdd didong sốdiđộng dđ sodidong
        โทรศัพท์ เบอร์โทร เบอร์โทรศัพท์ เบอร์มือถือ มือถือ หมายเลขโทรศัพท์ โทร โทรสาร แฟกซ์
        telepon nomortelepon notelepon notelp nomortelp telp tlp notlp nomorhp nohp nohandphone nomorhandphone handphone hape ponsel nomorponsel
        nomorseluler nowa nomorwa nomorwhatsapp telefonbimbit notelefonbimbit notelefon nombortelefon nomborfon nombortel nofon nofaks telepono numerongtelepono
        फोन फ़ोन मोबाइल फोननंबर मोबाइलनंबर दूरभाष هاتف رقمالهاتف الهاتف جوال رقمالجوال الجوال موبايل رقمالموبايل تلفون محمول شمارهتلفن تلفن موبایل شمارهموبایل فاکس فاكس
        טלפון מספרטלפון נייד מספרנייד טלפוןנייד סלולרי פלאפון פקס
        dianhua dianhuahaoma shouji shoujihao shoujihaoma lianxidianhua chuanzhen denwa denwabango denwabangou keitai keitaidenwa keitaibango keitaibangou
        jeonhwa jeonhwabeonho hyudaepon hyudaeponbeonho haendeupon raqamhatif hatif jawwal raqamjawwal jawal telefonnayad misparthelefon mispartelefon nayad pelefon mobailnambar dooorbhash`,
      alone: 'fon bimbit',
      likely:
        'hp 主叫 主叫号码 被叫 被叫号码 来电号码 发信号码 発信者番号 着信番号 발신번호 수신번호 발신자번호 수신자번호 zhujiao beijiao',
      hint: `联系方式 联系人 聯絡人 联络方式 連絡先 緊急連絡先 연락처 비상연락처 liênhệ lienhe kontak kontakdarurat hubungi ผู้ติดต่อ ติดต่อ
        发件人 收件人 發信人 微信 微信号 ライン 카카오톡 lianxifangshi lianxi renrakusaki kinkyurenrakusaki yeonrakcheo اتصال جهةالاتصال קשר`,
    },
    iban: {
      sure: 'iban号 iban番号 iban号码 ibanコード iban번호 nomoriban noiban رقمالايبان رقمالآيبان الآيبان ايبان آيبان شمارهشبا شبا sheba shaba מספרiban',
      hint: `账号 帐号 账户 银行账号 银行帐号 银行账户 收款账号 口座 口座番号 銀行口座 振込先 振込口座 계좌 계좌번호 은행계좌 tàikhoản sốtàikhoản taikhoan sotaikhoan
        บัญชี เลขที่บัญชี เลขบัญชี rekening nomorrekening norekening norek akaun noakaun nomborakaun rekeningbank
        حساب رقمالحساب الحسابالبنكي חשבוןבנק מספרחשבון zhanghao yinhangzhanghao koza kozabango ginkokoza gyejwa gyejwabeonho hisab raqamhisab`,
    },
  },
  roles: `客户 顾客 用户 员工 职员 紧急 家庭 公司 单位 办公 供应商 买家 卖家 会员 学生 患者 病人 家长 个人 主要 備用 备用 客戶 員工 顧客 お客様 会社 自宅 勤務先 社員 従業員 緊急 取引先
    担当者 申込者 保護者 本人 配送先 請求先 契約者 고객 회원 회사 직원 자택 직장 환자 학생 보호자 구매자 판매자 비상 담당자 수령인 주문자 kháchhàng khachhang nhânviên nhanvien côngty congty bệnhnhân
    nhà nha cơquan pelanggan nasabah karyawan pegawai rumah kantor perusahaan pemasok pasien siswa darurat orangtua penyewa pembeli penjual
    pekerja syarikat rumah pejabat pembekal pesakit kecemasan ลูกค้า พนักงาน บริษัท บ้าน ที่ทำงาน ผู้ป่วย ग्राहक العميل عميل الموظف موظف الشركة المنزل المريض مشتری לקוח עובד חברה בית
    kehu yuangong gongsi kokyaku kaisha jitaku gogaek hoewon hoesa jikwon`,
  numbers:
    '号 号码 號 號碼 番号 番號 번호 số หมายเลข เลข เลขที่ nomor nomer nombor no नंबर नम्बर رقم شماره מספר haoma hao bango bangou beonho raqam mispar',
  neutral:
    '地址 住所 アドレス 주소 địachỉ diachi ที่อยู่ alamat पता عنوان آدرس כתובת の 信息 情報 정보 資料 资料',
  otherContent: `类型 類型 种类 種類 種別 区分 状态 狀態 状態 验证 驗證 认证 認証 時間 时间 日期 日付 日時 次数 回数 件数 数量 运营商 品牌 有效期 有効期限 期限 国家 地区 区号 哈希 ハッシュ 暗号化 加密
    유형 종류 상태 인증 일자 날짜 시간 횟수 건수 통신사 유효기간 여부 암호화 loại trạngthái xácthực ngày ประเภท สถานะ วันที่ jenis tipe tanggal terverifikasi jumlah masaberlaku tarikh
    نوع حالة تاريخ סוג תאריך סטטוס leixing zhuangtai riqi shubetsu yuukoukigen yuhyo`,
  otherCards:
    '会员卡 會員卡 礼品卡 购物卡 医保卡 社保卡 学生卡 公交卡 図書カード ポイントカード ポイント 会員 会員カード 診察券 멤버십 포인트 기프트 회원카드 교통카드 hadiah perpustakaan keanggotaan thànhviên thẻthànhviên memberi',
}
