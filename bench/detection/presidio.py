"""Microsoft Presidio's pattern recognizers on columns: JSON lines {"values": [...]} in, {class: share of cells} out.

Each recognizer is called directly, so no language model is loaded. For each threshold of the score, the share of the
cells that are not blank in which the recognizer finds anything.
"""

import json
import sys

import tldextract
import tldextract.tldextract
from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    EmailRecognizer,
    IbanRecognizer,
    PhoneRecognizer,
    UsSsnRecognizer,
)

# The list of suffixes that comes with the package, not the one on the network.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
tldextract.extract = tldextract.tldextract.TLD_EXTRACTOR

RECOGNIZERS = {
    "us_ssn": (UsSsnRecognizer(), "US_SSN"),
    "email": (EmailRecognizer(), "EMAIL_ADDRESS"),
    "credit_card": (CreditCardRecognizer(), "CREDIT_CARD"),
    "phone": (PhoneRecognizer(), "PHONE_NUMBER"),
    "iban": (IbanRecognizer(), "IBAN_CODE"),
}
THRESHOLDS = [0.01, 0.4]


def best_score(recognizer, entity, cell):
    results = recognizer.analyze(text=cell, entities=[entity], nlp_artifacts=None) or []
    return max((result.score for result in results), default=0.0)


for line in sys.stdin:
    cells = [cell for cell in json.loads(line)["values"] if cell.strip()]
    answer = {}
    for name, (recognizer, entity) in RECOGNIZERS.items():
        scores = [best_score(recognizer, entity, cell) for cell in cells]
        answer[name] = [
            sum(score >= threshold for score in scores) / max(len(scores), 1) for threshold in THRESHOLDS
        ]
    print(json.dumps(answer), flush=True)
