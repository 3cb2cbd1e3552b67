"""Frame identification in the form of Culkin et al. (2021, section 6.3): a BiLSTM over words, an LSTM over spans."""
